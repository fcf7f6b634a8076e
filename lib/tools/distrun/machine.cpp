#include "machine.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include <dirent.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/handles.h"

namespace distrun {

int visible_gpus() {
  int present = 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/dev"), closedir);
  while (const dirent* entry = folder ? readdir(folder.get()) : nullptr) {
    const std::string name = entry->d_name;  // nvidia0, nvidia1, ...; not nvidiactl, nvidia-uvm
    if (name.size() > 6 && name.compare(0, 6, "nvidia") == 0 &&
        std::all_of(name.begin() + 6, name.end(), [](unsigned char c) { return std::isdigit(c); })) {
      ++present;
    }
  }
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return present;
  const std::string list = visible;
  if (list.empty() || list[0] == '-') return 0;
  return std::min<int>(present, 1 + static_cast<int>(std::count(list.begin(), list.end(), ',')));
}

// An address belongs to this machine if a socket can be bound to it.
bool is_this_machine(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (getaddrinfo(bare_host(host).c_str(), nullptr, &hints, &list) != 0) return false;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
  for (const addrinfo* a = list; a != nullptr; a = a->ai_next) {
    const dist::UniqueFd socket(::socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (socket && bind(socket.get(), a->ai_addr, a->ai_addrlen) == 0) return true;
  }
  return false;
}

std::string bare_host(const std::string& host) {
  return host.size() > 2 && host.front() == '[' ? host.substr(1, host.size() - 2) : host;
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

int free_port() {
  const dist::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t length = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (!socket || bind(socket.get(), plain, length) != 0 || getsockname(socket.get(), plain, &length) != 0) {
    dist::fail_errno(dist::Errc::resource, errno, "distrun: cannot find a free port");
  }
  return ntohs(address.sin_port);
}

std::string random_token() {
  std::array<std::uint64_t, 2> bits{};
  if (getrandom(bits.data(), sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
    dist::fail_errno(dist::Errc::resource, errno, "distrun: cannot get random numbers");
  }
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

}  // namespace distrun
