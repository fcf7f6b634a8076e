#include "distlab/bench/ddp/pytorch.h"

#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

#include "dist/core/fail.h"

#include "distlab/bench/ddp/pytorch_script.h"
#include "distlab/bench/ddp/training.h"
#include "distlab/dialogue.h"
#include "distlab/process.h"

namespace distlab::bench {
namespace {

std::string python() {
  const char* named = std::getenv("DISTLAB_PYTHON");
  return named ? named : "/usr/bin/python3";
}

}  // namespace

std::string pytorch_title() {
  const auto asked = run_captured(
      {python(), "-c", "import torch, torch.distributed; print('PyTorch', torch.__version__, end='')"});
  if (asked.exit_code != 0)
    dist::fail(
        dist::Errc::unsupported,
        "--compare pytorch: {} cannot import torch; apt-get install python3-torch, or set DISTLAB_PYTHON "
        "to a Python that can",
        python());
  return asked.output;
}

PyTorchRank::PyTorchRank(int rank, int ranks, const std::filesystem::path& folder)
    : python_(std::make_unique<Dialogue>(std::vector<std::string>{
          python(), "-c", std::string(pytorch_script()), std::to_string(rank), std::to_string(ranks),
          folder.string(), fmt::format("{}", ddp_lr), fmt::format("{}", ddp_momentum)})) {}

PyTorchRank::~PyTorchRank() = default;

PyTorchRank::Turn PyTorchRank::train(int steps) {
  std::istringstream answer(python_->ask(std::to_string(steps)));
  Turn turn;
  if (!(answer >> turn.seconds >> turn.loss))
    dist::fail(dist::Errc::peer_failed, "PyTorch's process has ended; its messages are above");
  return turn;
}

}  // namespace distlab::bench
