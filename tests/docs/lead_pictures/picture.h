// The lead pictures of the labs: which run each of them shows. main.cpp makes and checks the files.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dist/simulate/simulate.h"
#include "dist/trace/event.h"

#include "drawing/svg.h"

namespace dist::pictures {

struct Picture {
  std::string_view lab;                 // its number: "03"
  std::vector<trace::Trace> (*runs)();  // one below the other; null: `drawn` draws it
  trace::SvgOptions options = {};
  std::string (*drawn)() = nullptr;  // a picture of something else
};

// Lab 11: the two trees of eight ranks, and what each rank receives by one tree and by two.
std::string two_trees();
// Lab 12: the predicted times of 64 ranks over the size of the data, and where the ring overtakes the double
// tree.
std::string cost_curves();

// The handbook's page on sharding: the memory of a parameter on one of 8 ranks, by what is divided.
std::string sharded_memory();
// The one on tensor parallelism: which rank has which part of each matrix.
std::string split_matrices();

// In the order of the labs. Each list is one file's.
const std::vector<Picture>& message_pictures();     // labs 00 to 08
const std::vector<Picture>& all_reduce_pictures();  // labs 09 to 12
const std::vector<Picture>& training_pictures();    // labs 13 to 20

// A run of `program(rank)` on virtual ranks, after init_process_group(). Throws std::runtime_error if it
// fails, or, for a program that is wrong on purpose, if its finding is not `finding` ("D1").
trace::Trace run(int ranks, const std::string& topology, const std::function<void(int rank)>& program,
                 const std::string& finding = "");

// The run without its calls, whose bars would be behind everything else.
trace::Trace without_calls(trace::Trace run);

// Gives the k-th computation of each rank the name name(rank, k).
trace::Trace with_names(trace::Trace run, const std::function<std::string(int rank, int k)>& name);

}  // namespace dist::pictures
