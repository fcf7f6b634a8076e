// What the grading of lab 05 is made of: runs of simulated ranks, and the expected values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dist/collectives/trees.h"

#include "judge/exam.h"
#include "judge/numbers.h"
#include "judge/rooted.h"
#include "judge/sim_run.h"

namespace lab05 {

using dist::ceil_log2, judge::difference, judge::Json, judge::Numbers, judge::place_of, judge::text;

// One broadcast.
struct Round {
  int root = 0;
  std::vector<Numbers> before;  // [rank]: what its tensor holds; all must end with the root's
  int segment = 1;              // elements; for the chain
  std::string dtype = "f32";
  std::vector<int> shape = {};
  std::vector<int> delays_us = {};  // [rank]: computes this long before the call; empty: none does
  int elements() const { return static_cast<int>(before.at(0).size()); }
  double offset() const { return dtype == "f32" ? 0 : 1099511627776; }   // added to each number: 2^40
  int messages() const { return (elements() + segment - 1) / segment; }  // per link of the chain
  std::int64_t bytes() const { return std::int64_t{4} * elements(); }
};

// A broadcast of this many numbers. All ranks hold different ones.
Round round_of(judge::Random& random, int world_size, int root, int elements, int segment = 1);
// f64 with two axes and i64 with none, with numbers that f32 cannot hold: after rounding to f32 each becomes
// 0.
std::vector<Round> other_tensors(judge::Random& random, int world_size, int segment = 1);

// Calls of one function, one after another in the same program.
struct Asked {
  std::string call;  // "tree_broadcast"
  std::vector<Round> rounds;
  std::vector<int> group = {};  // in a group of these ranks; empty: of all. Roots are global ranks here.
  int world_size() const { return static_cast<int>(rounds.at(0).before.size()); }
  bool is_member(int rank) const { return group.empty() || std::ranges::find(group, rank) != group.end(); }
};

// Like SimRun::answers(); it also names the misconception that a finding or an error shows.
std::vector<Json> answers(const judge::SimRun& run, const std::string& call,
                          const std::vector<std::string_view>& allowed = {});
// Whether every tensor still has the caller's memory. Reports the first that has not.
bool are_in_place(const std::vector<Json>& replies, const std::string& call);

// All ranks have the root's numbers, in place, both with sends that wait for their receivers and with eager
// sends.
void expect_broadcasts(const Asked& asked);
// Whether one of these broadcasts, run alone, is right; reports nothing.
bool is_right(const std::string& call, const Round& round);
// The same for the members of a group; no other rank makes the calls.
void expect_in_a_group(const Asked& asked);
// The same for calls in a row that overlap.
void expect_calls_apart(judge::Random& random, Asked asked);

// These check one broadcast, on topology "rounds".
void expect_root_sends_all(const Asked& asked);  // flat
void expect_a_tree(const Asked& asked);
void expect_a_chain(const Asked& asked);  // which rank sends how much to which
void expect_pipelined(const Asked& asked);

// Part 4.
struct Parameter {
  std::vector<int> shape;
  int elements() const {
    int count = 1;
    for (const int length : shape) count *= length;
    return count;
  }
};
struct Update {
  int world_size;
  std::vector<int> trainers, servers;
  std::vector<Parameter> parameters;
  int bucket_elements;
  bool is_second = false;  // before it, the first server sends one number to the other ranks that take part

  bool is_server(int rank) const { return std::ranges::find(servers, rank) != servers.end(); }
  bool takes_part(int rank) const { return rank == trainers.at(0) || is_server(rank); }
  std::vector<std::vector<std::size_t>> buckets()
      const;  // the tensors of each, including those without elements
  std::int64_t bytes() const;
};
// The servers have the weights, in place, and no other rank took part.
judge::SimRun expect_updated(judge::Random& random, const Update& update);
// The messages and bytes of that run.
void expect_buckets(const judge::SimRun& run, const Update& update);

}  // namespace lab05
