// AMReX calls this before it sets initial values; there is nothing to read.
#include "AMReX_PROB_AMR_F.H"

extern "C" void amrex_probinit(const int*, const int*, const int*, const amrex_real*, const amrex_real*) {}
