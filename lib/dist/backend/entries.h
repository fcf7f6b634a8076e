// The rows of the backend table. Each pair of functions is defined in the backend's own file, or in its stub
// (no_cuda.cpp, ...) where this build does not have it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "dist/backend/backend.h"

namespace dist {

// What distlab calls the backend that PyTorch calls so ("gloo": "host"); other names are unchanged. Throws
// Error{invalid_argument} for one that distlab has nothing in the place of.
std::string_view translated(std::string_view name);

namespace cuda_backend {
bool available(std::string* why);
std::unique_ptr<Backend> make(const BackendContext& context);
}  // namespace cuda_backend

namespace nccl {
bool available(std::string* why);
std::unique_ptr<Backend> make(const BackendContext& context);
}  // namespace nccl

namespace mpi {
bool available(std::string* why);
std::unique_ptr<Backend> make(const BackendContext& context);
// "node0:41234", the host of rank 0 and a port that is free there, which MPI passes on. Collective. Error
// {unsupported}: to MPI, this is not that rank of that many.
std::string rank_0_address(int rank, int world_size);
}  // namespace mpi

namespace sim {
bool available(std::string* why);
std::unique_ptr<Backend> make(const BackendContext& context);
}  // namespace sim

}  // namespace dist
