// What ./distlab bench is asked for.
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
  int ranks = 0;                          // 0: one a core, two at least
  int cores = 0;                          // that all ranks together may use; mpirun binds each to one of them
  std::uint64_t min = 4, max = 64 << 20;  // bytes
  int factor = 4;
  std::string dtype = "f32", op = "sum";
  int root = 0;
  std::string backend = "auto";
  std::string algorithm;                 // empty: as the library chooses
  bool all_algorithms = false;           // one after the other
  int iterations = 0;                    // calls of a batch; 0: as many as take 10 ms
  int repeats = 15;                      // batches
  std::string json;                      // a file, "-" for standard output; empty: none
  std::filesystem::path plot;            // an SVG file; empty: none
  std::string compare;                   // "mpi", "nccl"; empty: with nobody
  bool foreign = false;                  // tensors over memory that peers cannot map
  bool hot = false;                      // the same buffers in every call
  std::optional<std::uint64_t> explain;  // bytes: says what each algorithm would cost, instead of measuring
  bool calibrate = false;                // measures the figures of the machine instead of a collective
};

namespace bench {

// The options, read and found possible as far as one process can tell.
struct Plan {
  Collective collective = Collective::all_reduce;
  int ranks = 2;
  dist::DType dtype = dist::DType::f32;
  dist::ReduceOp op;
  int root = 0;
  bool on_device = false;                       // the tensors: on the ranks' GPUs
  std::vector<std::string> algorithms;          // one empty name: as the library chooses
  std::vector<std::int64_t> sizes;              // bytes, ascending
  std::int64_t share(std::int64_t size) const;  // elements of one share
};

// dist::Error{invalid_argument} or {unsupported}: what is wrong, and what would be right.
Plan make_plan(const BenchOptions& options);

// For the rank program: "min=4", "hot=1", ... and back. Error{invalid_argument} quotes a word that is none.
std::vector<std::string> to_words(const BenchOptions& options);
BenchOptions from_words(const std::vector<std::string>& words);

}  // namespace bench
}  // namespace distlab
