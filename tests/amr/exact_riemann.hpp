#pragma once

#include <cmath>

namespace barrio::amr::test {

struct GasState {
  double density;
  double velocity;
  double pressure;
};

/// The exact solution of the Riemann problem of an ideal gas: Newton's iteration for the pressure between the waves.
/// Source: Toro 2009, chapter 4.
class ExactRiemann {
 public:
  ExactRiemann(const GasState& left, const GasState& right, double gamma) : left_(left), right_(right), gamma_(gamma) {
    double p = 0.5 * (left.pressure + right.pressure);
    for (int i = 0; i < 60; ++i) {
      const auto [fl, dl] = change(left, p);
      const auto [fr, dr] = change(right, p);
      const double next = p - (fl + fr + right.velocity - left.velocity) / (dl + dr);
      p = next > 0.0 ? next : 0.1 * p;
    }
    pressure_ = p;
    velocity_ = 0.5 * (left.velocity + right.velocity) + 0.5 * (change(right, p).value - change(left, p).value);
  }
  /// Return the pressure between the two outer waves.
  [[nodiscard]] double pressure() const { return pressure_; }
  [[nodiscard]] double velocity() const { return velocity_; }
  /// Return the state. @param ratio  position over time
  [[nodiscard]] GasState at(double ratio) const {
    if (ratio < velocity_) return beside(left_, ratio, 1.0);
    GasState mirrored = beside({right_.density, -right_.velocity, right_.pressure}, -ratio, -1.0);
    mirrored.velocity = -mirrored.velocity;
    return mirrored;
  }

 private:
  struct Change {
    double value;
    double slope;
  };
  /// Return the change of velocity across a wave to pressure p, and its derivative.
  [[nodiscard]] Change change(const GasState& side, double p) const {
    if (p > side.pressure) {
      const double a = 2.0 / ((gamma_ + 1.0) * side.density);
      const double b = (gamma_ - 1.0) / (gamma_ + 1.0) * side.pressure;
      const double root = std::sqrt(a / (p + b));
      return {(p - side.pressure) * root, root * (1.0 - 0.5 * (p - side.pressure) / (b + p))};
    }
    const double c = std::sqrt(gamma_ * side.pressure / side.density);
    const double power = std::pow(p / side.pressure, 0.5 * (gamma_ - 1.0) / gamma_);
    return {2.0 * c / (gamma_ - 1.0) * (power - 1.0),
            std::pow(p / side.pressure, -0.5 * (gamma_ + 1.0) / gamma_) / (side.density * c)};
  }
  /// Return the state left of the contact. @param sign  of the velocity between the waves, -1 if mirrored
  [[nodiscard]] GasState beside(const GasState& side, double ratio, double sign) const {
    const double middle = sign * velocity_;
    const double c = std::sqrt(gamma_ * side.pressure / side.density);
    const double jump = pressure_ / side.pressure;
    const double g = (gamma_ - 1.0) / (gamma_ + 1.0);
    if (pressure_ > side.pressure) {
      const double shock = side.velocity - c * std::sqrt(0.5 * ((gamma_ + 1.0) * jump + gamma_ - 1.0) / gamma_);
      if (ratio < shock) return side;
      return {side.density * (jump + g) / (g * jump + 1.0), middle, pressure_};
    }
    const double end = middle - c * std::pow(jump, 0.5 * (gamma_ - 1.0) / gamma_);
    if (ratio < side.velocity - c) return side;
    if (ratio > end) return {side.density * std::pow(jump, 1.0 / gamma_), middle, pressure_};
    const double u = 2.0 / (gamma_ + 1.0) * (c + 0.5 * (gamma_ - 1.0) * side.velocity + ratio);
    const double sound = c + 0.5 * (gamma_ - 1.0) * (side.velocity - u);
    return {side.density * std::pow(sound / c, 2.0 / (gamma_ - 1.0)), u,
            side.pressure * std::pow(sound / c, 2.0 * gamma_ / (gamma_ - 1.0))};
  }

  GasState left_;
  GasState right_;
  double gamma_;
  double pressure_ = 0.0;
  double velocity_ = 0.0;
};

}  // namespace barrio::amr::test
