// Lab 14, part 4: a perceptron, trained as PyTorch's DistributedDataParallel trains it.
#include <cmath>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "judge/trouble.h"
#include "support.h"

namespace lab14 {
namespace {

// "momentum": PyTorch's run on several ranks with SGD and momentum 0.9; "adam": with Adam.
Json golden_run(const std::string& optimizer) {
  std::ifstream file(LAB14_GOLDEN);
  if (!file) throw judge::Trouble("cannot read " LAB14_GOLDEN);
  for (const auto& run : Json::parse(file)) {
    const bool is_it = optimizer == "adam" ? run.at("optimizer") == "adam" : run.at("momentum") == 0.9;
    if (is_it && run.at("model") == "mlp") return run;
  }
  throw judge::Trouble(LAB14_GOLDEN " has no run with " + optimizer);
}

}  // namespace

void expect_golden(const std::string& optimizer) {
  constexpr double tolerance = 5e-6;  // relative; f32 sums may be added in another order
  const Json golden = golden_run(optimizer);
  const Json task{{"call", "golden"},
                  {"optimizer", optimizer},
                  {"lr", golden.at("lr")},
                  {"steps", golden.at("steps")},
                  {"batch", golden.at("batch_per_rank")}};
  const auto replies = answers(run(std::vector<Json>(golden.at("world_size").get<std::size_t>(), task)));
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const std::vector<double> right = golden.at("per_rank").at(rank).at("losses"), got = replies[rank];
    for (std::size_t step = 0; step < right.size(); ++step) {
      if (step < got.size() && std::abs(got[step] - right[step]) <= tolerance * right[step]) continue;
      ADD_FAILURE() << fmt::format(
          "a perceptron on {} ranks, {}: the loss on rank {} in step {} must be PyTorch's {:.7f}; it is {}",
          replies.size(), optimizer, rank, step, right[step],
          step < got.size() ? fmt::format("{:.7f}", got[step]) : "missing");
      return;
    }
  }
}

}  // namespace lab14
