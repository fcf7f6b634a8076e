#include "distlab/loop/terminal_input.h"

#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <string_view>

#include <poll.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "dist/core/fail.h"

namespace distlab::loop {
namespace {

// Signal handlers read these as well.
termios before;
volatile std::sig_atomic_t is_raw = 0;

constexpr std::array crashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// Restores the terminal, so that a crash does not leave it without echo. All calls are async-signal-safe.
extern "C" void restore_and_crash(int signal) {
  if (is_raw != 0) ::tcsetattr(STDIN_FILENO, TCSANOW, &before);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

constexpr char escape = '\033', end_of_input = '\004';  // Ctrl-D

// Returns the last byte of the sequence of an arrow or a function key ("ESC [ 1 5 ~", "ESC O P"), or of Alt
// with a key.
std::size_t end_of_sequence(std::string_view bytes, std::size_t begin) {
  std::size_t at = begin + 1;
  if (at < bytes.size() && (bytes[at] == '[' || bytes[at] == 'O')) ++at;
  while (at < bytes.size() && (bytes[at] < '@' || bytes[at] > '~')) ++at;
  return at;
}

void set_raw() {
  termios raw = before;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  is_raw = 1;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

sigset_t kept_back() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH}) sigaddset(&signals, signal);
  return signals;
}

}  // namespace

RawInput::RawInput() {
  if (::tcgetattr(STDIN_FILENO, &before) != 0)
    dist::fail_errno(dist::Errc::resource, errno, "cannot read the terminal's settings");
  for (const int signal : crashes) std::signal(signal, restore_and_crash);
  set_raw();
}

void RawInput::restore() {
  if (is_raw == 0) return;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before);
  is_raw = 0;
}

void RawInput::resume() { set_raw(); }

std::optional<std::string> read_keys() {
  std::array<char, 256> buffer{};
  const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN ? std::optional<std::string>("") : std::nullopt;
  if (got == 0) return std::nullopt;
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
  std::string keys;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == end_of_input) return std::nullopt;
    if (bytes[i] == escape)
      i = end_of_sequence(bytes, i);
    else
      keys += static_cast<char>(std::tolower(static_cast<unsigned char>(bytes[i])));
  }
  return keys;
}

SignalInput::SignalInput() {
  const sigset_t signals = kept_back();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  fd_ = dist::UniqueFd(::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  if (fd_.get() < 0) dist::fail_errno(dist::Errc::resource, errno, "cannot listen for signals");
}

SignalInput::~SignalInput() {
  const sigset_t signals = kept_back();
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

std::vector<int> SignalInput::take() {
  std::vector<int> signals;
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof info) == sizeof info)
    signals.push_back(static_cast<int>(info.ssi_signo));
  return signals;
}

}  // namespace distlab::loop
