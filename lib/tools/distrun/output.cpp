#include "output.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

namespace distrun {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 20, outlet_limit = std::size_t{1} << 20;
constexpr std::size_t tail_bytes = 8192;

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // a full disk must not end the job
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

Outlet::Outlet(int fd) : fd_(fd), is_terminal_(isatty(fd) == 1) {}

bool Outlet::is_full() const { return pending_.size() > outlet_limit && !is_broken(); }

void Outlet::say(std::string_view line) {
  add(fmt::format("distrun: {}\n", line));
  pump();
}

// The descriptor is shared with other processes (the shell), so it must stay blocking. After POLLOUT a pipe
// takes PIPE_BUF bytes without blocking.
void Outlet::pump() {
  std::size_t done = 0;
  while (done < pending_.size() && !is_broken()) {
    pollfd ready{fd_, POLLOUT, 0};
    if (poll(&ready, 1, 0) <= 0) break;
    const ssize_t n =
        write(fd_, pending_.data() + done, std::min<std::size_t>(pending_.size() - done, PIPE_BUF));
    if (n > 0)
      done += static_cast<std::size_t>(n);
    else if (errno != EINTR && errno != EAGAIN)
      error_ = errno;
  }
  if (is_broken())
    pending_.clear();
  else
    pending_.erase(0, done);
}

void Outlet::flush(dist::Deadline deadline) {
  for (pump(); is_waiting() && !deadline.passed(); pump()) {
    pollfd ready{fd_, POLLOUT, 0};
    poll(&ready, 1, deadline.poll_ms());
  }
}

void Tail::add(std::string_view text) {
  kept_ += text;
  if (kept_.size() > 2 * tail_bytes) kept_.erase(0, kept_.size() - tail_bytes);
}

std::string Tail::last_lines(int count) const {
  std::string_view all = kept_;
  while (!all.empty() && all.back() == '\n') all.remove_suffix(1);
  std::size_t begin = all.size();
  for (int i = 0; i < count && begin != std::string_view::npos && begin > 0; ++i)
    begin = all.rfind('\n', begin - 1);
  return std::string(begin == std::string_view::npos || begin == 0 ? all : all.substr(begin + 1));
}

void LineSink::emit(std::string_view line) {
  if (target_.shown == nullptr) return;
  target_.shown->add(target_.prefix);
  target_.shown->add(line);
  if (line.empty() || line.back() != '\n') target_.shown->add("\n");
}

void LineSink::add(std::string_view bytes) {
  if (target_.file) write_all(target_.file.get(), bytes);
  if (target_.tail != nullptr) target_.tail->add(bytes);
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end == std::string_view::npos ? end : end + 1);
    bytes.remove_prefix(piece.size());
    if (partial_.empty() && end != std::string_view::npos) {
      emit(piece);
      continue;
    }
    partial_ += piece;
    if (end != std::string_view::npos || partial_.size() >= longest_line) finish();
  }
}

void LineSink::finish() {
  if (!partial_.empty()) emit(partial_);
  partial_.clear();
}

std::string line_prefix(int rank, bool colours) {
  constexpr std::array shades{36, 33, 32, 35, 34, 31};  // cyan, yellow, green, magenta, blue, red
  if (!colours) return fmt::format("[{}] ", rank);
  return fmt::format("\x1b[{}m[{}]\x1b[0m ", shades[static_cast<std::size_t>(rank) % shades.size()], rank);
}

}  // namespace distrun
