// The runs of labs 09 and 10, and the drawn pictures of labs 11 and 12: ways to an all_reduce.
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

}  // namespace

const std::vector<Picture>& all_reduce_pictures() {
  static const std::vector<Picture> all{
      {"09", ring, {.row = 44, .chunks = 4}},
      {"10", trees, {.row = 22}},
      {.lab = "11", .runs = nullptr, .drawn = two_trees},
      {.lab = "12", .runs = nullptr, .drawn = cost_curves},
  };
  return all;
}

}  // namespace dist::pictures
