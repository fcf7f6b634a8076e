#include "judge/confined_run.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge/patience.h"
#include "judge/trouble.h"

namespace judge {
namespace fs = std::filesystem;
namespace {

// False at the end of the stream.
bool take(int fd, std::string& output, std::size_t most) {
  std::array<char, 65536> piece{};
  const auto got = ::read(fd, piece.data(), piece.size());
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  const auto room = most - std::min(most, output.size());
  output.append(piece.data(), std::min(room, static_cast<std::size_t>(got)));
  return got > 0;
}

}  // namespace

Ran run_confined(const Command& command, const Limits& limits) {
  const Confined confined = confine(command, limits);
  Child child(confined);
  Ran ran{.isolation = confined.isolation};
  Patience patience(limits);
  bool has_ended = false, output_open = true;
  while (!has_ended && !patience.is_used_up({child.pid()})) {
    std::array<pollfd, 2> watched{
        {{output_open ? child.output() : -1, POLLIN, 0}, {child.pidfd(), POLLIN, 0}}};
    constexpr int look_again_ms = 50;
    if (::poll(watched.data(), watched.size(), look_again_ms) <= 0) continue;
    if (watched[0].revents != 0) output_open = take(child.output(), ran.output, limits.output_bytes);
    has_ended = watched[1].revents != 0;
  }
  ran.stopped = patience.why();
  ran.spent = patience.spent();
  const int status = child.end();
  for (int piece = 0; piece < 64 && output_open;
       ++piece)  // what it wrote before it ended; no process is left
    output_open =
        take(child.output(), ran.output, limits.output_bytes) && ran.output.size() < limits.output_bytes;
  ran.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return ran;
}

Ran Errand::run(const Command& command, std::size_t output_bytes) {
  if (left_ <= Milliseconds(0)) {
    const auto most = std::chrono::duration<double>(limits_.in_all).count();
    return {.exit_code = 1, .stopped = fmt::format("was not started: all before it has taken {:g} s", most)};
  }
  Limits limits = limits_;
  limits.in_all = left_;
  if (output_bytes > 0) limits.output_bytes = output_bytes;
  Ran ran = run_confined(command, limits);
  left_ -= ran.spent;
  return ran;
}

ScratchFolder::ScratchFolder() : ScratchFolder(fs::temp_directory_path()) {
  if (::geteuid() == 0) ::chmod(path_.c_str(), 0777);
}

ScratchFolder::ScratchFolder(const fs::path& in)
    : path_((in / "distlab-judge-XXXXXX").string()), owner_(::getpid()) {
  if (::mkdtemp(path_.data()) == nullptr)
    throw Trouble(fmt::format("no temporary folder {}: {}", path_, std::strerror(errno)));
}

ScratchFolder::~ScratchFolder() {
  if (owner_ != ::getpid()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace judge
