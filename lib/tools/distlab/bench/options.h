// The options of ./distlab bench.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dist/core/types.h"

#include "distlab/bench/collective.h"

namespace distlab {

struct BenchOptions {
  std::string what;                       // a collective
  int ranks = 0;                          // 0: one per core, at least two
  int cores = 0;                          // for all ranks together; mpirun binds each rank to one of them
  std::uint64_t min = 4, max = 64 << 20;  // bytes
  int factor = 4;
  std::string dtype = "f32", op = "sum";
  int root = 0;
  std::string backend = "auto";
  std::string algorithm;                 // empty: the library chooses
  bool all_algorithms = false;           // a row for each
  int iterations = 0;                    // calls per batch; 0: as many as take 10 ms
  int repeats = 15;                      // batches
  std::string json;                      // a file, "-" for standard output; empty: none
  std::filesystem::path plot;            // an SVG file; empty: none
  std::string compare;                   // "mpi", "nccl"; empty: no comparison
  bool foreign = false;                  // put tensors over memory that peers cannot map
  bool hot = false;                      // use the same buffers in every call
  std::optional<std::uint64_t> explain;  // a size in bytes: estimate each algorithm instead of measuring
  bool calibrate = false;                // measure the figures of the machine instead of a collective
};

namespace bench {

// The options, parsed and checked as far as one process can check them.
struct Plan {
  Collective collective = Collective::all_reduce;
  int ranks = 2;
  dist::DType dtype = dist::DType::f32;
  dist::ReduceOp op;
  int root = 0;
  bool on_device = false;                       // whether the tensors are on the ranks' GPUs
  std::vector<std::string> algorithms;          // one empty name: the library chooses
  std::vector<std::int64_t> sizes;              // bytes, ascending
  std::int64_t share(std::int64_t size) const;  // elements per part
};

// Throws dist::Error{invalid_argument} or {unsupported} that says what is wrong and what to do.
Plan make_plan(const BenchOptions& options);

// Convert the options to words for the rank program ("min=4", "hot=1", ...) and back. Throw
// Error{invalid_argument} that quotes a word that is not an option.
std::vector<std::string> to_words(const BenchOptions& options);
BenchOptions from_words(const std::vector<std::string>& words);

}  // namespace bench
}  // namespace distlab
