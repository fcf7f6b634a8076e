#include "pseudo_terminal.h"

#include <array>
#include <csignal>
#include <stdexcept>

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

using namespace std::chrono_literals;

namespace {

constexpr auto patience = 10s;
using Clock = std::chrono::steady_clock;

}  // namespace

PseudoTerminal::PseudoTerminal(const std::vector<std::string>& argv, int rows, int columns) {
  winsize size{};
  size.ws_row = static_cast<unsigned short>(rows);
  size.ws_col = static_cast<unsigned short>(columns);
  int master = -1, slave = -1;
  if (::openpty(&master, &slave, nullptr, nullptr, &size) != 0)
    throw std::runtime_error("no pseudo-terminal");
  master_ = dist::UniqueFd(master);
  slave_ = dist::UniqueFd(slave);
  std::vector<char*> pointers;
  for (const auto& word : argv) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  child_ = ::fork();
  if (child_ == 0) {
    ::close(master);
    if (::login_tty(slave) == 0) ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
}

PseudoTerminal::~PseudoTerminal() {
  if (child_ <= 0) return;
  ::kill(child_, SIGTERM);  // so that it can end what it has started
  if (exit_code() != -1) return;
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
}

bool PseudoTerminal::read_some(std::chrono::milliseconds wait) {
  pollfd asked{master_.get(), POLLIN, 0};
  if (::poll(&asked, 1, static_cast<int>(wait.count())) <= 0) return false;
  std::array<char, 65536> buffer{};
  const ssize_t got = ::read(master_.get(), buffer.data(), buffer.size());
  if (got <= 0) return false;
  all_.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

bool PseudoTerminal::shows(const std::string& text) {
  for (const auto end = Clock::now() + patience; Clock::now() < end; read_some(100ms)) {
    const auto at = all_.find(text, seen_);
    if (at == all_.npos) continue;
    seen_ = at + text.size();
    return true;
  }
  return false;
}

void PseudoTerminal::press(const std::string& keys) const {
  if (::write(master_.get(), keys.data(), keys.size()) < 0) throw std::runtime_error("cannot press a key");
}

void PseudoTerminal::resize(int rows, int columns) const {
  winsize size{};
  size.ws_row = static_cast<unsigned short>(rows);
  size.ws_col = static_cast<unsigned short>(columns);
  ::ioctl(master_.get(), TIOCSWINSZ, &size);
}

void PseudoTerminal::signal(int number) const { ::kill(child_, number); }

termios PseudoTerminal::settings() const {
  termios now{};
  ::tcgetattr(slave_.get(), &now);
  return now;
}

bool PseudoTerminal::has_echo() const { return (settings().c_lflag & ECHO) != 0; }
bool PseudoTerminal::is_by_line() const { return (settings().c_lflag & ICANON) != 0; }

int PseudoTerminal::exit_code() {
  for (const auto end = Clock::now() + patience; Clock::now() < end; read_some(20ms)) {
    int status = 0;
    if (::waitpid(child_, &status, WNOHANG) != child_) continue;
    child_ = 0;
    while (read_some(0ms)) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return -1;
}
