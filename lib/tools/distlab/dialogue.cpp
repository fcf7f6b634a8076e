#include "distlab/dialogue.h"

#include <array>
#include <cerrno>
#include <csignal>

#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/core/fail.h"

namespace distlab {
namespace {

// No SIGPIPE is raised when the other end is closed.
bool send_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

Dialogue::Dialogue(const std::vector<std::string>& argv) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    dist::fail_errno(dist::Errc::resource, errno, "cannot make a socket pair");
  line_ = dist::UniqueFd(ends[0]);
  const dist::UniqueFd theirs(ends[1]);
  std::vector<char*> words;
  for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDOUT_FILENO);
  const int error = posix_spawnp(&child_, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) dist::fail_errno(dist::Errc::resource, error, "cannot start " + argv[0]);
}

Dialogue::~Dialogue() {
  ::kill(child_, SIGKILL);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string Dialogue::ask(const std::string& line) {
  if (!send_all(line_.get(), line + '\n')) return {};
  std::size_t end = 0;
  while ((end = heard_.find('\n')) == std::string::npos) {
    std::array<char, 4096> buffer{};
    const ssize_t got = ::read(line_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    heard_.append(buffer.data(), static_cast<std::size_t>(got));
  }
  const std::string answer = heard_.substr(0, end);
  heard_.erase(0, end + 1);
  return answer;
}

}  // namespace distlab
