#pragma once

/// @file Read QAPLIB problems and solutions, for comparison with published results.

#include <string>

#include "barrio/rankmap/assignment.hpp"

namespace barrio::rankmap {

/// Roles of the two matrices of a QAPLIB file. The library leaves open which one is the machine. The value of the
/// problem is the same, but the traffic should be the sparser matrix: the solver's work grows with its entries.
enum class QaplibOrder {
  distances_first,  ///< the first matrix is the machine, the second the traffic
  flows_first,      ///< the first matrix is the traffic, the second the machine
};

/// A QAPLIB problem as machine and traffic, with as many ranks as cores.
struct QaplibInstance {
  Machine machine;        ///< dense, with one core per node
  TrafficMatrix traffic;  ///< flows as points and as bytes; their cost equals QAPLIB's objective
};

/// Tell whether a file begins like a QAPLIB problem: with a single number on its line. Local. @throws Error{failed}
bool is_qaplib(const std::string& path);

/// Read a QAPLIB problem: n and two n x n matrices. Local. Memory O(n^2).
/// An unsymmetric distance matrix is replaced by its mean with its transpose, which changes no value if the flows are
/// symmetric. If both matrices have a diagonal, that of the flows is the traffic of ranks to themselves, and that of
/// the distances is its cost on each core, see `Machine::core_cost`.
/// @throws Error{bad_input} with file and line if it is damaged, or if neither matrix is symmetric; Error{failed} if it
/// cannot be opened
QaplibInstance read_qaplib(const std::string& path, QaplibOrder order = QaplibOrder::distances_first);

/// A published solution of a QAPLIB problem.
struct QaplibSolution {
  double value = 0.0;   ///< as the file states it, which may be wrong
  Placement placement;  ///< of the instance when read with the same order
};

/// Read a published solution: n, value, and a permutation p (1-based) from rows of the file's first matrix to rows of
/// its second: the value is the sum of A[i][j] * B[p(i)][p(j)]. Local. @throws Error{bad_input}, Error{failed}
QaplibSolution read_qaplib_solution(const std::string& path, QaplibOrder order = QaplibOrder::distances_first);

}  // namespace barrio::rankmap
