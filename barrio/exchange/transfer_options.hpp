#pragma once

namespace barrio::exchange {

/// How rows of a tuple list travel.
enum class Route {
  /// Of a tuple list on up to 256 ranks `counted`. Else the cheaper of the other two by the most bytes and the most
  /// destinations that a rank has, found in one reduction: log2(P) * (M + bytes) by the router, (8 * log2(P) +
  /// destinations) * M + bytes directly, where a message costs as much as M = 16 KiB. So less than some 200 KB a rank
  /// go by the router.
  automatic,
  /// Together, in log2(P) exchanges with one partner each; a row is copied up to log2(P) times.
  crystal,
  /// One message to each destination. The receivers do not expect them, so a consensus says that all have arrived:
  /// one round of a Neighborhood without neighbours, with `Termination::consensus`.
  direct,
  /// The same, but all ranks first tell each other how many bytes come, 16 bytes to every rank of the job, in
  /// MPI_Alltoall. Nothing is copied on the way. For some hundreds of ranks; memory O(P).
  counted,
};

/// The same on all ranks.
struct TransferOptions {
  Route route = Route::automatic;
};

}  // namespace barrio::exchange
