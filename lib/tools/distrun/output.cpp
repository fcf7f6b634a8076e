#include "output.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
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

// How much of `text` can be shown before more has come: not a UTF-8 character's first bytes alone, and not a
// carriage return, which may belong to a newline.
std::size_t complete_bytes(std::string_view text) {
  const std::size_t all = text.size();
  if (text.ends_with('\r')) return all - 1;
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, all); ++back) {
    const auto byte = static_cast<unsigned char>(text[all - back]);
    if ((byte & 0xC0) == 0x80) continue;  // not a character's first byte
    const std::size_t needed = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return needed > back ? all - back : all;
  }
  return all;
}

}  // namespace

Outlet::Outlet(int fd) : fd_(fd), is_terminal_(isatty(fd) == 1) {}

bool Outlet::is_full() const { return pending_.size() > outlet_limit && !is_broken(); }

void Outlet::say(std::string_view line) {
  if (*unfinished_ != 0) add("\n");
  end_line();
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

void Outlet::continue_line(int writer, std::string_view prefix) {
  if (*unfinished_ == writer) return;
  if (*unfinished_ != 0) add("\n");
  add(prefix);
  *unfinished_ = writer;
}

bool Outlet::is_same_file_as(const Outlet& other) const {
  struct stat mine {
  }, theirs{};
  return fstat(fd_, &mine) == 0 && fstat(other.fd_, &theirs) == 0 && mine.st_dev == theirs.st_dev &&
         mine.st_ino == theirs.st_ino;
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

LineSink::LineSink(Target target) : target_(std::move(target)) {
  static int sinks = 0;
  number_ = ++sinks;
}

// A bar returns to the beginning of its line, where the prefix is: it is written again.
void LineSink::emit(std::string_view text) {
  if (target_.shown == nullptr || text.empty()) return;
  target_.shown->continue_line(number_, target_.prefix);
  const bool is_whole = text.back() == '\n';
  while (!text.empty()) {
    const auto end = text.find('\r');
    const std::string_view piece = text.substr(0, end == std::string_view::npos ? end : end + 1);
    target_.shown->add(piece);
    text.remove_prefix(piece.size());
    if (end != std::string_view::npos && !text.starts_with('\n')) target_.shown->add(target_.prefix);
  }
  if (is_whole) target_.shown->end_line();
}

void LineSink::add(std::string_view bytes) {
  if (target_.file) write_all(target_.file.get(), bytes);
  if (target_.tail != nullptr) target_.tail->add(bytes);
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end == std::string_view::npos ? end : end + 1);
    bytes.remove_prefix(piece.size());
    if (end != std::string_view::npos) {
      partial_.empty() ? emit(piece) : emit(partial_ += piece);
      partial_.clear();
      due_ = dist::Deadline::never();
      continue;
    }
    partial_ += piece;
    if (due_.is_never()) due_ = dist::Deadline::after(patience);
    if (partial_.size() < longest_line) continue;
    const std::size_t shown = complete_bytes(partial_);
    emit(partial_.substr(0, shown) + '\n');
    partial_.erase(0, shown);
  }
}

void LineSink::show_unfinished() {
  if (!due_.passed()) return;
  due_ = dist::Deadline::never();
  const std::size_t shown = complete_bytes(partial_);
  emit(std::string_view(partial_).substr(0, shown));
  partial_.erase(0, shown);
}

void LineSink::finish() {
  const bool is_unfinished = target_.shown != nullptr && target_.shown->has_unfinished_line_of(number_);
  if (!partial_.empty() || is_unfinished) emit(partial_ + '\n');
  partial_.clear();
  due_ = dist::Deadline::never();
}

std::string line_prefix(int rank, bool colours) {
  constexpr std::array shades{36, 33, 32, 35, 34, 31};  // cyan, yellow, green, magenta, blue, red
  if (!colours) return fmt::format("[{}] ", rank);
  return fmt::format("\x1b[{}m[{}]\x1b[0m ", shades[static_cast<std::size_t>(rank) % shades.size()], rank);
}

}  // namespace distrun
