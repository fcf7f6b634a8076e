// Lab 12: the predictions that would follow from a wrong idea.
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "support.h"

namespace lab12 {
namespace {

// The prediction of a wrong idea, from the pieces of which all formulas are made.
struct Pieces {
  const Question& q;
  double n, levels, alpha, start, size;  // start: overhead of a message
  double port(double bytes) const { return start + q.machine.slowest().beta * bytes; }
};

Pieces pieces_of(const Question& q) {
  const Costs& c = q.machine.slowest();
  const double n = q.machine.ranks();
  return {q, n, std::ceil(std::log2(n)), c.alpha, c.overhead, static_cast<double>(q.bytes)};
}

double with_beta(const Question& q, double factor) {
  Question other = q;
  other.machine.within.beta *= factor;
  other.machine.between.beta *= factor;
  return computed(other);
}

struct Idea {
  Algorithm algorithm;
  const char* name;
  const char* in_words;
  double (*seconds)(const Pieces&);
};

const std::vector<Idea>& ideas() {
  using A = Algorithm;
  static const std::vector<Idea> known{
      {A::ring, "whole_tensor_each_step",
       "here all S bytes go to the neighbour in each step; fix: count one chunk, S/n bytes",
       [](const Pieces& p) { return 2 * (p.n - 1) * (p.port(p.size) + p.alpha); }},
      {A::ring, "n_minus_1_over_n_forgotten",
       "2(n-1) steps of S/n bytes are 2(n-1)/n S, not 2 S: for few ranks this is much less",
       [](const Pieces& p) { return 2 * (p.n - 1) * (p.start + p.alpha) + 2 * (p.port(p.size) - p.start); }},
      {A::ring, "one_phase_of_two",
       "this is the time of only the reduce-scatter; fix: add the all-gather after it, which takes as long",
       [](const Pieces& p) { return (p.n - 1) * (p.port(p.size / p.n) + p.alpha); }},
      {A::ring, "n_steps", "a chunk needs n - 1 steps to reach all other ranks, not n",
       [](const Pieces& p) { return 2 * p.n * (p.port(p.size / p.n) + p.alpha); }},
      {A::tree, "levels_rounded_down",
       "log2 n was rounded down; fix: round up, because the ranks beyond the largest power of two need one "
       "more level",
       [](const Pieces& p) {
         const double levels = std::exp2(p.levels) == p.n ? p.levels : p.levels - 1;
         return (4 * levels - 2) * p.port(p.size) + 2 * levels * p.alpha;
       }},
      {A::tree, "children_at_once",
       "here the messages of two children take the time of one; fix: count them one after the other at the "
       "parent's port, on the way up and on the way down (only the root has a single child)",
       [](const Pieces& p) { return 2 * p.levels * (p.port(p.size) + p.alpha); }},
      {A::tree, "two_children_of_the_root",
       "the root has one child, so one message less waits at its port, up and down: 4 log2 n - 2, not 4 log2 "
       "n",
       [](const Pieces& p) { return 4 * p.levels * p.port(p.size) + 2 * p.levels * p.alpha; }},
      {A::tree, "one_phase_of_two",
       "this is the time of either the way up or the way down; fix: add both, because an all_reduce needs "
       "both",
       [](const Pieces& p) { return (2 * p.levels - 1) * p.port(p.size) + p.levels * p.alpha; }},
      {A::double_tree, "levels_rounded_down",
       "log2 n was rounded down; fix: round up, because the ranks beyond the largest power of two need one "
       "more level",
       [](const Pieces& p) {
         const double levels = std::exp2(p.levels) == p.n ? p.levels : p.levels - 1;
         return (4 * levels - 2) * p.port(p.size / 2) + 2 * levels * p.alpha;
       }},
      {A::double_tree, "all_data_on_both_trees",
       "here each of the two trees carries all of the data; fix: count one half for each",
       [](const Pieces& p) { return (4 * p.levels - 2) * p.port(p.size) + 2 * p.levels * p.alpha; }},
      {A::double_tree, "halves_in_sequence",
       "here the second tree begins when the first one is done; fix: count them as parallel, because a rank "
       "that is an inner rank in one is a leaf of the other",
       [](const Pieces& p) {
         return 2 * ((4 * p.levels - 2) * p.port(p.size / 2) + 2 * p.levels * p.alpha);
       }},
      {A::parameter_server, "a_port_for_everybody",
       "here all workers' messages pass the server's port at the same time; fix: count them one after "
       "another, n - 1 in, then n - 1 out",
       [](const Pieces& p) { return 2 * (p.port(p.size) + p.alpha); }},
      {A::parameter_server, "waits_for_every_way",
       "here alpha is counted for every message; fix: count it once in and once out, because the messages "
       "follow each other through the port and their latencies overlap",
       [](const Pieces& p) { return 2 * (p.n - 1) * (p.port(p.size) + p.alpha); }},
      {A::naive, "a_port_for_everybody",
       "here the n - 1 copies of a rank's data leave at the same time; fix: count them one after another, "
       "because a rank has one port",
       [](const Pieces& p) { return p.port(p.size) + p.alpha; }},
      {A::naive, "ways_overlap",
       "here alpha is counted once; fix: count it n - 1 times, because each of the n - 1 rounds begins when "
       "the message of the round before has arrived",
       [](const Pieces& p) { return (p.n - 1) * p.port(p.size) + p.alpha; }},
      {A::naive, "counts_pairs",
       "each pair exchanges two messages, one in each direction, so a rank sends n - 1, not half of that",
       [](const Pieces& p) { return (p.n - 1) / 2 * (p.port(p.size) + p.alpha); }},
      {A::hierarchical, "flat_ring_over_nodes",
       "this is one ring through all GPUs at the cost of the links between the nodes; fix: count the cheaper "
       "messages within a node, and only S/g bytes per rank across nodes",
       [](const Pieces& p) { return 2 * (p.n - 1) * (p.port(p.size / p.n) + p.alpha); }},
      {A::hierarchical, "swaps_nodes_and_gpus",
       "the numbers of nodes and of GPUs per node are exchanged; fix: a ring within a node has `gpus` ranks, "
       "and "
       "a ring across the nodes has `nodes` ranks",
       [](const Pieces& p) {
         Question turned = p.q;
         std::swap(turned.machine.nodes, turned.machine.gpus);
         return computed(turned);
       }},
      {A::hierarchical, "all_data_between_nodes",
       "here all S bytes are summed across the nodes; fix: count S/g, because after the reduce-scatter a "
       "rank has only S/g bytes",
       [](const Pieces& p) {
         const Machine& m = p.q.machine;
         const auto ring = [](const Costs& c, double ranks, double bytes) {
           return 2 * (ranks - 1) * (c.overhead + c.alpha + c.beta * bytes / ranks);
         };
         return ring(m.within, m.gpus, p.size) + ring(m.between, m.nodes, p.size);
       }}};
  return known;
}

}  // namespace

void diagnose(const std::vector<Question>& questions, const std::vector<double>& got) {
  const auto fits = [&](auto said) {
    bool all = true;
    for (std::size_t i = 0; all && i < got.size(); ++i)
      all = std::abs(got[i] - said(questions[i])) <= 1e-3 * std::abs(got[i]);
    return all;
  };
  for (const double factor : {8., 1 / 8.}) {
    if (fits([&](const Question& q) { return with_beta(q, factor); }))
      return judge::misconception(
          "bits_for_bytes", fmt::format("here a byte takes {} it should; fix: take beta in seconds per byte, "
                                        "and sizes in bytes, not bits",
                                        factor > 1 ? "8 times as long as" : "an eighth of the time that"));
  }
  const auto with_links = [](Question q, bool all_within) {
    (all_within ? q.machine.between : q.machine.within) = all_within ? q.machine.within : q.machine.between;
    return computed(q);
  };
  if (fits([&](const Question& q) { return with_links(q, true); }))
    return judge::misconception(
        "links_within_a_node_everywhere",
        "on several nodes every message of a flat algorithm was counted as one within "
        "a node; fix: count it as one between nodes");
  if (fits([&](const Question& q) { return with_links(q, false); }))
    return judge::misconception(
        "links_between_nodes_everywhere",
        "on one node messages were counted as messages between nodes; fix: count them "
        "as messages within the node");
  for (const auto& idea : ideas()) {
    if (idea.algorithm == questions[0].algorithm &&
        fits([&](const Question& q) { return idea.seconds(pieces_of(q)); }))
      return judge::misconception(idea.name, idea.in_words);
  }
}

}  // namespace lab12
