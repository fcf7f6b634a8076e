#include "judge/passing_user.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <random>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/core/handles.h"

#include "judge/trouble.h"

namespace judge {
namespace {

constexpr uid_t first = 61184, many = 4096;

// Holds an abstract socket of its number: the system frees it whatever becomes of this process.
class Leased : public PassingUser {
 public:
  Leased(uid_t id, dist::UniqueFd socket) : id_(id), socket_(std::move(socket)) {}
  uid_t id() const override { return id_; }

 private:
  uid_t id_;
  dist::UniqueFd socket_;
};

void remove_files_of(uid_t user, const char* folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    struct stat about {};
    if (::lstat(entry.path().c_str(), &about) == 0 && about.st_uid == user)
      std::filesystem::remove_all(entry.path(), ignored);
  }
}

}  // namespace

std::shared_ptr<PassingUser> passing_user() {
  static std::atomic<uid_t> next{std::random_device()() % many};
  for (uid_t tried = 0; tried < many; ++tried) {
    const uid_t id = first + next++ % many;
    const auto name = fmt::format("distlab-user-{}", id);
    sockaddr_un place{.sun_family = AF_UNIX, .sun_path = {}};
    name.copy(place.sun_path + 1, sizeof place.sun_path - 1);
    dist::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (socket && ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&place), size) == 0)
      return std::make_shared<Leased>(id, std::move(socket));
  }
  throw Trouble("no user number is free for a confined process");
}

void clean_up_after(const PassingUser& user) {
  const uid_t id = user.id();
  const pid_t killer = ::fork();
  if (killer == 0) {
    if (::setgid(id) == 0 && ::setuid(id) == 0) ::kill(-1, SIGKILL);
    ::_exit(0);
  }
  while (killer > 0 && ::waitpid(killer, nullptr, 0) < 0 && errno == EINTR) {
  }
  for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm"}) remove_files_of(id, folder);
}

}  // namespace judge
