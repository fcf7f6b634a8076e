#include "distlab/bench/pytorch.h"

#include <cstdlib>

#include "dist/core/fail.h"

#include "distlab/dialogue.h"
#include "distlab/process.h"

namespace distlab::bench {
namespace {

std::string python() {
  const char* named = std::getenv("DISTLAB_PYTHON");
  return named ? named : "/usr/bin/python3";
}

std::vector<std::string> command(std::string_view script, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{python(), "-c", std::string(script)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
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

PyTorch::PyTorch(std::string_view script, const std::vector<std::string>& arguments)
    : python_(std::make_unique<Dialogue>(command(script, arguments))) {}

PyTorch::~PyTorch() = default;

std::string PyTorch::train(int steps) {
  std::string answer = python_->ask(std::to_string(steps));
  if (answer.empty())
    dist::fail(dist::Errc::peer_failed, "PyTorch's process has ended; its messages are above");
  return answer;
}

}  // namespace distlab::bench
