// The runs of labs 09 to 12: four ways to an all_reduce.
#include "dist/dist.h"

#include "picture.h"
#include "tree_all_reduce.h"

namespace dist::pictures {
namespace {

using trace::Trace;

Trace all_reduce_by(int ranks, const std::string& topology, std::int64_t elements,
                    const std::string& algorithm) {
  return without_calls(run(ranks, topology, [=](int rank) {
    Tensor t = full({elements}, rank);
    all_reduce(t, {.algorithm = algorithm});
  }));
}

std::vector<Trace> ring() { return {all_reduce_by(4, "laptop", 16 * 1024, "ring")}; }

// The tree of lab 10, in one message per link, and in four segments.
std::vector<Trace> trees() {
  constexpr std::int64_t elements = 64 * 1024;
  const auto by = [](const std::function<void(Tensor&)>& way) {
    return without_calls(run(7, "laptop", [&](int rank) {
      Tensor t = full({elements}, rank);
      way(t);
    }));
  };
  return {by(lab::tree_all_reduce), by([](Tensor& t) { lab::tree_all_reduce_pipelined(t, elements / 8); })};
}

// One tree and two, in segments of 128 KiB.
std::vector<Trace> one_tree_and_two() {
  constexpr std::int64_t elements = 128 * 1024;
  return {all_reduce_by(8, "laptop", elements, "tree"),
          all_reduce_by(8, "laptop", elements, "double_binary_tree")};
}

// Two nodes with six GPUs.
std::vector<Trace> ring_and_hierarchical() {
  return {all_reduce_by(12, "summit", 24 * 1024, "ring"),
          all_reduce_by(12, "summit", 24 * 1024, "hierarchical")};
}

}  // namespace

const std::vector<Picture>& all_reduce_pictures() {
  static const std::vector<Picture> all{
      {"09", ring, {.row = 44, .chunks = 4}},
      {"10", trees, {.row = 22}},
      {"11", one_tree_and_two, {.row = 24, .chunks = 2, .colours_by_chunk = true}},
      {"12", ring_and_hierarchical, {.row = 15}},
  };
  return all;
}

}  // namespace dist::pictures
