#include "dist/backend/nccl/explain.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace dist::nccl {
namespace {

struct Meaning {
  std::string_view words;  // part of what NCCL says
  std::string_view advice;
};

constexpr std::string_view one_gpu =
    "NCCL refuses two ranks on one GPU: start as many ranks as there are GPUs, use backend \"cuda\", or set "
    "DIST_NCCL_SHARE_GPU=1, which is slow and for tests";

// The first entry that fits counts. NCCL's last line may belong to an earlier error. That another rank has
// ended is what the result itself says, so only what could be the reason for that is listed before it.
constexpr std::array meanings{
    Meaning{"no socket interface",
            "set NCCL_SOCKET_IFNAME to a network interface that all hosts share (ip addr)"},
    Meaning{"No route to host",
            "set NCCL_SOCKET_IFNAME to a network interface that all hosts share (ip addr)"},
    Meaning{"Connection refused", "did a rank end, or does a firewall close NCCL's ports?"},
    Meaning{"remote process exited", "another rank has ended; its own error says why"},
    Meaning{"Duplicate GPU", one_gpu},
    Meaning{"Multiple Ranks are using the same GPU", one_gpu},  // the words of newer NCCL versions
    Meaning{"driver version is insufficient",
            "install a newer driver (nvidia-smi shows the CUDA version that it supports)"},
    Meaning{"out of memory",
            "use smaller tensors or fewer groups: each communicator needs memory of its own"},
    Meaning{"shared memory", "NCCL needs room in /dev/shm (docker run --ipc=host, or --shm-size=1g)"},
    Meaning{"/dev/shm", "NCCL needs room in /dev/shm (docker run --ipc=host, or --shm-size=1g)"},
    Meaning{"invalid usage",
            "do all ranks call the same collectives with equal sizes? DIST_DEBUG=detail compares them"},
};
constexpr std::string_view unknown = "NCCL_DEBUG=WARN shows what NCCL saw";

bool contains(std::string_view text, std::string_view words) {
  return std::search(text.begin(), text.end(), words.begin(), words.end(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
         }) != text.end();
}

}  // namespace

std::string explain(std::string_view call, std::string_view result, std::string_view said) {
  while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.remove_suffix(1);
  const std::string text = said.empty() ? std::string(result) : fmt::format("{} ({})", said, result);
  const auto found =
      std::ranges::find_if(meanings, [&](const Meaning& m) { return contains(text, m.words); });
  return fmt::format("{}: {}; {}", call, text, found == meanings.end() ? unknown : found->advice);
}

}  // namespace dist::nccl
