#include "dist/store/descriptor_shortage.h"

#include <array>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "dist/core/limits.h"
#include "dist/core/log.h"
#include "dist/store/wire.h"

namespace dist {
namespace {

constexpr auto accept_pause = std::chrono::milliseconds(100);
constexpr auto descriptor_patience = std::chrono::seconds(2);  // after that, newcomers are turned away

UniqueFd open_spare() { return UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

DescriptorShortage::DescriptorShortage() : spare_(open_spare()) {}

void DescriptorShortage::note(int listener, int error, const SocketAddress& address) {
  const auto now = Clock::now();
  const std::string why =
      fmt::format("cannot accept a connection: {}{}", std::strerror(error), limit_behind(error));
  raise_soft_limit(RLIMIT_NOFILE, 2 * soft_limit(RLIMIT_NOFILE));
  if (since_ == Clock::time_point::min()) {
    since_ = now;
    log(LogLevel::warn, "store {}: {}; trying again", address.str(), why);
  } else if (now - since_ > descriptor_patience) {
    turn_away(listener, why);
  }
  next_try_ = now + accept_pause;
}

bool DescriptorShortage::has_paused(Clock::time_point now) {
  if (now < next_try_) return false;
  next_try_ = Clock::time_point::max();
  return true;
}

void DescriptorShortage::turn_away(int listener, const std::string& why) {
  spare_.reset();
  if (const UniqueFd fd(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)); fd) {
    std::array<std::byte, wire::max_greeting> greeting;
    [[maybe_unused]] const auto read = recv(fd.get(), greeting.data(), greeting.size(), 0);
    const Bytes frame = wire::welcome(why);
    [[maybe_unused]] const auto told = send(fd.get(), frame.data(), frame.size(), MSG_NOSIGNAL);
  }
  spare_ = open_spare();
}

}  // namespace dist
