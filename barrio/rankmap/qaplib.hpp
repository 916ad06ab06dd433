#pragma once

#include <string>

#include "barrio/rankmap/assignment.hpp"

namespace barrio::rankmap {

/// Say which of the two matrices of a QAPLIB file is the machine. The library leaves that open; the value of the
/// problem is the same, but the traffic should be the sparser matrix: the solver's work grows with its entries.
enum class QaplibOrder { distances_first, flows_first };

struct QaplibInstance {
  Machine machine;
  TrafficMatrix traffic;  ///< flows as points and as bytes; their cost equals QAPLIB's objective
};

/// Whether a file begins like a QAPLIB problem: with one number alone in its line. Local. @throws Error{failed}
bool is_qaplib(const std::string& path);

/// Read a QAPLIB problem: n and two n x n matrices. Local. Memory O(n^2).
/// An unsymmetric distance matrix is replaced by its mean with its transpose, which changes no value when the flows
/// are symmetric. Where both matrices have a diagonal, that of the flows is what ranks send themselves, and that of the
/// distances what it costs on each core, see `Machine::core_cost`.
/// @throws Error{bad_input} with file and line if it is damaged, or if neither matrix is symmetric; Error{failed} if it
/// cannot be opened
QaplibInstance read_qaplib(const std::string& path, QaplibOrder order = QaplibOrder::distances_first);

struct QaplibSolution {
  double value = 0.0;   ///< as the file states it, which need not be true
  Placement placement;  ///< of the instance that was read with the same order
};

/// Read a published solution: n, value, and a permutation p (1-based) that takes rows of the file's first matrix to
/// rows of its second: the value is the sum of A[i][j] * B[p(i)][p(j)]. Local. @throws Error{bad_input}, Error{failed}
QaplibSolution read_qaplib_solution(const std::string& path, QaplibOrder order = QaplibOrder::distances_first);

}  // namespace barrio::rankmap
