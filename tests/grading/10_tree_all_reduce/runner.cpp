// The process of one rank in the grading of lab 10: it calls the graded functions as the task says.
#include <nlohmann/json.hpp>

#include "judge/sum_runner.h"
#include "tree_all_reduce.h"

namespace {

using judge::Json;

// The others take no segment.
judge::SumFunction plain(void (*call)(dist::Tensor&)) {
  return [call](dist::Tensor& data, std::int64_t) { call(data); };
}

// The places of all ranks, for each n.
Json places(const Json& task) {
  Json trees = Json::array();
  for (const int n : task.at("sizes")) {
    Json tree = Json::array();
    for (int rank = 0; rank < n; ++rank) {
      const auto place = lab::tree_place(rank, n);
      tree.push_back({{"parent", place.parent}, {"children", place.children}});
    }
    trees.push_back(tree);
  }
  return trees;
}

}  // namespace

int main() {
  return judge::serve_sums({{"reduce_to_root", plain(lab::reduce_to_root)},
                            {"tree_all_reduce", plain(lab::tree_all_reduce)},
                            {"tree_all_reduce_pipelined", lab::tree_all_reduce_pipelined}},
                           places);
}
