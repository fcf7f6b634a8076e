#include "distlab/bench/ddp/pytorch.h"

#include <sstream>

#include <fmt/format.h>

#include "dist/core/fail.h"

#include "distlab/bench/ddp/training.h"
#include "distlab/bench/pytorch_script.h"

namespace distlab::bench {

PyTorchRank::PyTorchRank(int rank, int ranks, const std::filesystem::path& folder, const std::string& device)
    : python_(pytorch_rank_script(), {std::to_string(rank), std::to_string(ranks), folder.string(),
                                      fmt::format("{}", ddp_lr), fmt::format("{}", ddp_momentum), device}) {}

PyTorchRank::Turn PyTorchRank::train(int steps) {
  const std::string answer = python_.train(steps);
  std::istringstream figures(answer);
  Turn turn;
  if (!(figures >> turn.seconds >> turn.loss))
    dist::fail(dist::Errc::peer_failed, "PyTorch's process answered \"{}\" instead of seconds and a loss",
               answer);
  return turn;
}

}  // namespace distlab::bench
