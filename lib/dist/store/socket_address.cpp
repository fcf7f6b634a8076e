#include <charconv>

#include "dist/core/fail.h"
#include "dist/store/socket.h"

namespace dist {
namespace {

// sun_path holds 108 bytes, and the leading NUL of an abstract name takes one of them.
constexpr std::size_t longest_unix_name = 107;

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  fail(Errc::invalid_argument,
       "store address '{}': {}; write tcp://host:port, tcp://[ipv6]:port or unix://@name",
       text.substr(0, 200), why);
}

int parse_number(std::string_view text, std::string_view digits, std::string_view what) {
  int number = -1;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 0 || number > 65535) {
    refuse(text, fmt::format("'{}' is not a {} from 0 to 65535", digits, what));
  }
  return number;
}

}  // namespace

std::string SocketAddress::str() const {
  if (is_unix()) return "unix://@" + name;
  if (given >= 0) return fmt::format("fd://{}", given);
  const bool ipv6 = host.find(':') != std::string::npos;
  return fmt::format("tcp://{}{}{}:{}", ipv6 ? "[" : "", host, ipv6 ? "]" : "", port);
}

SocketAddress parse_address(std::string_view text) {
  constexpr std::string_view tcp = "tcp://", local = "unix://@", descriptor = "fd://";
  SocketAddress address;
  if (text.starts_with(local)) {
    address.name = text.substr(local.size());
    if (address.name.empty()) refuse(text, "the name is missing");
    if (address.name.size() > longest_unix_name) refuse(text, "the name is longer than 107 bytes");
    return address;
  }
  if (text.starts_with(descriptor)) {
    address.given = parse_number(text, text.substr(descriptor.size()), "descriptor");
    return address;
  }
  if (!text.starts_with(tcp)) refuse(text, "it begins with neither tcp:// nor unix://@");
  const std::string_view rest = text.substr(tcp.size());
  const auto colon = rest.rfind(':');
  if (colon == std::string_view::npos || rest.ends_with(']')) refuse(text, "the port is missing");
  std::string_view host = rest.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find_first_of("[]:/") != std::string_view::npos) {
    refuse(text, fmt::format("'{}' is not a host (an IPv6 address goes in brackets)", host));
  }
  if (host.empty()) refuse(text, "the host is missing");
  address.host = host;
  address.port = parse_number(text, rest.substr(colon + 1), "port number");
  return address;
}

}  // namespace dist
