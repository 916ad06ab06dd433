#pragma once

/// @file Errors with subject, cause and remedy, their exit codes, and errors that all ranks agree on.

#include <exception>
#include <optional>
#include <string>

#include "barrio/base/ids.hpp"

namespace barrio {

/// Outcome of a program; the values are the exit codes of every barrio program.
enum class ErrorCode : int {
  ok = 0,         ///< success
  failed = 1,     ///< the machine or the file system refused
  usage = 2,      ///< the command line or an argument is wrong
  bad_input = 3,  ///< a file or its contents are wrong
  differs = 4,    ///< a comparison found a difference
  internal = 70,  ///< a bug in barrio
};

/// Return the exit code of a program with this outcome.
constexpr int exit_code(ErrorCode code) noexcept { return static_cast<int>(code); }

/// Parts of a message that its reader can act on.
struct ErrorText {
  std::string subject;      ///< file, argument or rank that the message is about
  std::string cause;        ///< fault of the subject
  std::string remedy = {};  ///< action that mends it; may be empty
};

/// Fault in arguments, input or the machine.
/// Thrown by one rank alone, it ends the whole job (see `barrio::mpi::run`). A fault that every rank sees is thrown as
/// `AgreedError`.
class Error : public std::exception {
 public:
  /// Make an error from its parts; `what()` is built at once.
  Error(ErrorCode code, ErrorText text);

  /// Return the kind of fault, which is also the exit code of a program that it ends.
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }
  /// Return the file, argument or rank that the message is about.
  [[nodiscard]] const std::string& subject() const noexcept { return text_.subject; }
  /// Return the fault of the subject.
  [[nodiscard]] const std::string& cause() const noexcept { return text_.cause; }
  /// Return the action that mends it; may be empty.
  [[nodiscard]] const std::string& remedy() const noexcept { return text_.remedy; }
  /// Return all parts of the message.
  [[nodiscard]] const ErrorText& text() const noexcept { return text_; }
  /// Return one line: "subject: cause (remedy)".
  [[nodiscard]] const char* what() const noexcept override { return what_.c_str(); }

 private:
  ErrorCode code_;
  ErrorText text_;
  std::string what_;
};

/// Fault that every rank of the communicator throws together, so the job can end in good order.
/// Throw it only where all ranks take the same branch; `mpi::agree` throws it after asking all of them.
class AgreedError : public Error {
 public:
  /// Make a fault that all ranks found: `first_rank()` is empty.
  using Error::Error;
  /// Make it from the error of one rank. @param first_rank  lowest rank that found it; empty: all ranks did
  explicit AgreedError(const Error& error, std::optional<Rank> first_rank = {});

  /// Return the lowest rank that found the fault; empty if all ranks found the same fault.
  [[nodiscard]] std::optional<Rank> first_rank() const noexcept { return first_rank_; }

 private:
  std::optional<Rank> first_rank_;
};

/// Throw an Error made of these parts.
[[noreturn]] void refuse(ErrorCode code, std::string subject, std::string cause, std::string remedy = {});
/// Throw an AgreedError made of these parts; all ranks call it together.
[[noreturn]] void refuse_together(ErrorCode code, std::string subject, std::string cause, std::string remedy = {});
/// Remedy for a file that contradicts itself.
inline constexpr const char* damaged_remedy = "the file is damaged or was written wrongly";

/// Outcome of a phase that may fail on some ranks only. Empty means success.
using Status = std::optional<Error>;

/// Run a callable and turn any exception it throws into a Status, so the exception does not unwind further.
template <class Callable>
Status capture(Callable&& phase);

/// Turn the exception in flight into an Error; anything unknown becomes `internal`. Call it in a catch block.
Error current_error() noexcept;

template <class Callable>
Status capture(Callable&& phase) {
  try {
    phase();
    return {};
  } catch (...) {
    return current_error();
  }
}

}  // namespace barrio
