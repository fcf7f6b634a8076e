// The process of one rank in the grading of lab 11: it calls the graded functions as the task says.
#include <nlohmann/json.hpp>

#include "double_binary_tree.h"
#include "judge/sum_runner.h"

namespace {

using judge::Json;

// The places of all ranks in one of the trees, for each n.
Json places(const Json& task) {
  const auto place_of = task.at("call") == "first_tree" ? lab::first_tree : lab::second_tree;
  Json trees = Json::array();
  for (const int n : task.at("sizes")) {
    Json tree = Json::array();
    for (int rank = 0; rank < n; ++rank) {
      const auto place = place_of(rank, n);
      tree.push_back({{"parent", place.parent}, {"children", place.children}});
    }
    trees.push_back(tree);
  }
  return trees;
}

}  // namespace

int main() { return judge::serve_sums({{"double_tree_all_reduce", lab::double_tree_all_reduce}}, places); }
