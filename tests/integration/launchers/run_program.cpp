#include "run_program.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dist_test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void drain(dist::UniqueFd& fd, std::string& into) {
  char piece[65536];
  while (fd) {
    const ssize_t n = read(fd.get(), piece, sizeof piece);
    if (n > 0) into.append(piece, static_cast<std::size_t>(n));
    if (n == 0) fd.reset();
    if (n < 0 && errno != EINTR) return;
  }
}

}  // namespace

Running::Running(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                 const std::string& input)
    : start_(Clock::now()) {
  int in[2], out[2], err[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
    throw std::runtime_error("pipe");
  }
  std::vector<char*> argv;
  for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork");
  if (pid_ == 0) {
    dup2(in[0], 0), dup2(out[1], 1), dup2(err[1], 2);
    for (const auto& entry : environment) {
      const auto equals = entry.find('=');
      if (equals == entry.npos)
        unsetenv(entry.c_str());
      else
        setenv(entry.substr(0, equals).c_str(), entry.substr(equals + 1).c_str(), 1);
    }
    execvp(argv[0], argv.data());
    _exit(127);
  }
  for (const int fd : {in[0], out[1], err[1]}) close(fd);
  if (write(in[1], input.data(), input.size()) != static_cast<ssize_t>(input.size()))
    throw std::runtime_error("write");
  close(in[1]);
  out_ = dist::UniqueFd(out[0]);
  err_ = dist::UniqueFd(err[0]);
  for (const int fd : {out[0], err[0]}) fcntl(fd, F_SETFL, O_NONBLOCK);
}

Running::~Running() {
  if (ended_) return;
  send_signal(SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Running::send_signal(int number) const {
  if (!ended_) kill(pid_, number);
}

void Running::read_some(int patience_ms) {
  pollfd events[] = {{out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}};
  poll(events, 2, patience_ms);
  drain(out_, ran_.out);
  drain(err_, ran_.err);
}

bool Running::wait_for_output(const std::string& text, double seconds) {
  const auto start = Clock::now();
  while (ran_.out.find(text) == std::string::npos) {
    if ((!out_ && !err_) || seconds_since(start) > seconds) return false;
    read_some(20);
  }
  return true;
}

Ran Running::wait(double seconds) {
  int status = 0;
  const auto start = Clock::now();
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    read_some(10);
    if (seconds_since(start) > seconds) kill(pid_, SIGKILL);
  }
  ended_ = true;
  ran_.seconds = seconds_since(start_);
  read_some(0);
  ran_.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return ran_;
}

Ran run_program(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                const std::string& input) {
  return Running(arguments, environment, input).wait();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool is_alive(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const auto state = stat.rfind(") ");
  return state != std::string::npos && stat[state + 2] != 'Z' && stat[state + 2] != 'X';
}

bool is_gone_within(pid_t pid, double seconds) {
  for (const auto start = Clock::now(); seconds_since(start) < seconds;) {
    if (!is_alive(pid)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

std::string temporary_folder() {
  std::string folder = "/tmp/distlab_test_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("mkdtemp");
  return folder;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace dist_test
