// Lab 12: what would be predicted, were a wrong idea right.
#include <cmath>

#include "12_choose_an_algorithm_support.h"

namespace lab12 {
namespace {

// What a wrong idea says, from the pieces that all formulas are made of.
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
       "in each step of a ring one chunk goes to the neighbour, S/n bytes, not all of the tensor",
       [](const Pieces& p) { return 2 * (p.n - 1) * (p.port(p.size) + p.alpha); }},
      {A::ring, "n_minus_1_over_n_forgotten",
       "2(n-1) steps of S/n bytes are 2(n-1)/n S, not 2 S: for few ranks that is much less",
       [](const Pieces& p) { return 2 * (p.n - 1) * (p.start + p.alpha) + 2 * (p.port(p.size) - p.start); }},
      {A::ring, "one_phase_of_two",
       "that is one phase: after the reduce-scatter comes the all-gather, as long again",
       [](const Pieces& p) { return (p.n - 1) * (p.port(p.size / p.n) + p.alpha); }},
      {A::ring, "n_steps", "a chunk needs n - 1 steps to come to all others, not n",
       [](const Pieces& p) { return 2 * p.n * (p.port(p.size / p.n) + p.alpha); }},
      {A::tree, "children_at_once",
       "two children send to one parent: its port takes their messages one after the other, and on the way "
       "down it "
       "sends one after the other. Only the root has a single child",
       [](const Pieces& p) { return 2 * p.levels * (p.port(p.size) + p.alpha); }},
      {A::tree, "two_children_of_the_root",
       "the root has one child, so one message less waits at its port, up and down: 4 log2 n - 2, not 4 log2 "
       "n",
       [](const Pieces& p) { return 4 * p.levels * p.port(p.size) + 2 * p.levels * p.alpha; }},
      {A::tree, "one_phase_of_two", "that is the way up or the way down: an all_reduce needs both",
       [](const Pieces& p) { return (2 * p.levels - 1) * p.port(p.size) + p.levels * p.alpha; }},
      {A::double_tree, "all_data_on_both_trees", "each of the two trees carries one half of the data",
       [](const Pieces& p) { return (4 * p.levels - 2) * p.port(p.size) + 2 * p.levels * p.alpha; }},
      {A::double_tree, "halves_in_sequence",
       "the two trees work at the same time: a rank that is busy in one is a leaf of the other",
       [](const Pieces& p) {
         return 2 * ((4 * p.levels - 2) * p.port(p.size / 2) + 2 * p.levels * p.alpha);
       }},
      {A::parameter_server, "a_port_for_everybody",
       "all messages go through the server's one port, one after the other: n - 1 in, then n - 1 out",
       [](const Pieces& p) { return 2 * (p.port(p.size) + p.alpha); }},
      {A::parameter_server, "waits_for_every_way",
       "the messages follow each other through the port; their ways overlap, so alpha is paid once in and "
       "once out",
       [](const Pieces& p) { return 2 * (p.n - 1) * (p.port(p.size) + p.alpha); }},
      {A::naive, "a_port_for_everybody",
       "a rank has one port: the n - 1 copies of its data leave one after the other",
       [](const Pieces& p) { return p.port(p.size) + p.alpha; }},
      {A::naive, "ways_overlap",
       "the exchange has n - 1 rounds, and the next one begins when the message of this one has arrived: "
       "alpha is paid n - 1 times",
       [](const Pieces& p) { return (p.n - 1) * p.port(p.size) + p.alpha; }},
      {A::naive, "counts_pairs",
       "each pair exchanges two messages, one each way; a rank sends n - 1, not half of that",
       [](const Pieces& p) { return (p.n - 1) / 2 * (p.port(p.size) + p.alpha); }},
      {A::hierarchical, "flat_ring_over_nodes",
       "that is one ring through all GPUs at the price of the links between the nodes: within a node "
       "messages cost "
       "less, and only S/g bytes a rank leave it",
       [](const Pieces& p) { return 2 * (p.n - 1) * (p.port(p.size / p.n) + p.alpha); }},
      {A::hierarchical, "all_data_between_nodes",
       "after the reduce-scatter a rank has S/g bytes to sum across the nodes, not S", [](const Pieces& p) {
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
      return judge::misconception("bits_for_bytes",
                                  "beta is seconds a byte, and sizes are bytes: a factor of 8 is too much");
  }
  for (const auto& idea : ideas()) {
    if (idea.algorithm == questions[0].algorithm &&
        fits([&](const Question& q) { return idea.seconds(pieces_of(q)); }))
      return judge::misconception(idea.name, idea.in_words);
  }
}

}  // namespace lab12
