#include <charconv>

#include "dist/core/fail.h"
#include "dist/store/socket.h"

namespace dist {
namespace {

// sun_path holds 108 bytes, of which an abstract name's leading NUL takes one.
constexpr std::size_t longest_unix_name = 107;

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  fail(Errc::invalid_argument,
       "store address '{}': {}; write tcp://host:port, tcp://[ipv6]:port or unix://@name",
       text.substr(0, 200), why);
}

int parse_port(std::string_view text, std::string_view digits) {
  int port = -1;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port < 0 || port > 65535) {
    refuse(text, fmt::format("'{}' is no port number from 0 to 65535", digits));
  }
  return port;
}

}  // namespace

std::string SocketAddress::str() const {
  if (is_unix()) return "unix://@" + name;
  const bool ipv6 = host.find(':') != std::string::npos;
  return fmt::format("tcp://{}{}{}:{}", ipv6 ? "[" : "", host, ipv6 ? "]" : "", port);
}

SocketAddress parse_address(std::string_view text) {
  constexpr std::string_view tcp = "tcp://", local = "unix://@";
  SocketAddress address;
  if (text.starts_with(local)) {
    address.name = text.substr(local.size());
    if (address.name.empty()) refuse(text, "the name is missing");
    if (address.name.size() > longest_unix_name) refuse(text, "the name is longer than 107 bytes");
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
    refuse(text, fmt::format("'{}' is no host (an IPv6 address goes into brackets)", host));
  }
  if (host.empty()) refuse(text, "the host is missing");
  address.host = host;
  address.port = parse_port(text, rest.substr(colon + 1));
  return address;
}

}  // namespace dist
