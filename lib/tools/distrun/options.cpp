#include "options.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <sstream>

#include <arpa/inet.h>

#include "dist/core/limits.h"

#include "machine.h"
#include "words.h"

namespace distrun {
namespace {

// Reads numbers as CLI11 reads those of the other options: 0x10 and 020 are sixteen.
int to_int(const std::string& text, const std::string& flag, int least) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 0);
  const bool is_number = !text.empty() && end == text.c_str() + text.size();
  if (!is_number || value < least || value > std::numeric_limits<int>::max()) {
    refuse("{} takes a whole number of at least {}, not \"{}\"", flag, least, text);
  }
  return static_cast<int>(value);
}

bool to_bool(const std::string& text, const std::string& flag) {
  if (text == "1" || text == "true" || text == "True") return true;
  if (text == "0" || text == "false" || text == "False") return false;
  refuse("{} takes 1 or 0, not \"{}\"", flag, text);
}

void check_seconds(double seconds, const std::string& flag) {
  constexpr double most = 1e6;
  if (!(seconds >= 0 && seconds <= most))
    refuse("{} takes seconds, from 0 to {:.0f}, not {}", flag, most, seconds);
}

std::vector<std::string> comma_separated(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream rest(text);
  for (std::string part; std::getline(rest, part, ',');) parts.push_back(part);
  if (parts.empty()) parts.emplace_back();  // an empty text has one empty part
  return parts;
}

// "4", or torchrun's "1:4".
void count_nodes(const std::string& text, Options& options) {
  const auto colon = text.find(':');
  options.nodes = options.least_nodes = to_int(text.substr(0, colon), "--nnodes", 1);
  if (colon == std::string::npos) return;
  options.nodes = to_int(text.substr(colon + 1), "--nnodes", options.least_nodes);
  if (options.is_elastic() && options.node_rank >= 0)
    refuse("--node-rank cannot be chosen where the number of nodes changes (--nnodes {}); leave it out",
           text);
}

Streams read_streams(const std::string& text, const std::string& flag) {
  Streams result;
  const auto value = [&](const std::string& digit) {
    if (digit.size() != 1 || digit[0] < '0' || digit[0] > '3') {
      refuse("{} takes 0 (none), 1 (stdout), 2 (stderr), 3 (both), or 0:1,1:3 (per local rank), not \"{}\"",
             flag, text);
    }
    return digit[0] - '0';
  };
  for (const std::string& part : comma_separated(text)) {
    const auto colon = part.find(':');
    if (colon == std::string::npos)
      result.everywhere = value(part);
    else
      result.by_rank[to_int(part.substr(0, colon), flag, 0)] = value(part.substr(colon + 1));
  }
  return result;
}

// Puts an IPv6 address in brackets, as in an address with a port: "::1" becomes "[::1]".
std::string in_brackets(const std::string& host) {
  return host.find(':') != std::string::npos && host.front() != '[' ? "[" + host + "]" : host;
}

bool is_ipv6(const std::string& text) {
  in6_addr address{};
  return inet_pton(AF_INET6, text.substr(0, text.find('%')).c_str(), &address) == 1;
}

// As in torchrun, the last colon comes before the port, even without brackets: "::1:29400". If that would
// leave something that is not an address ("fd77::1"), the text has no port.
void read_endpoint(const std::string& text, int default_port, Options& options) {
  auto colon = text.rfind(':');
  const bool has_brackets =
      colon != std::string::npos && text.find(']', colon) != std::string::npos;  // "[::1]"
  if (has_brackets || (is_ipv6(text) && !is_ipv6(text.substr(0, colon)))) colon = std::string::npos;
  options.endpoint_host = text.substr(0, colon);
  options.endpoint_port = colon == std::string::npos
                              ? default_port
                              : to_int(text.substr(colon + 1), "--rdzv-endpoint HOST:PORT", 0);
  if (options.endpoint_host.empty() || options.endpoint_port > 65535) {
    refuse("--rdzv-endpoint takes HOST:PORT, not \"{}\"", text);
  }
  options.endpoint_host = in_brackets(options.endpoint_host);
}

void read_conf(const std::string& text, Options& options) {
  if (text.empty()) return;
  for (const std::string& part : comma_separated(text)) {
    const auto equals = part.find('=');
    if (equals == std::string::npos) refuse("--rdzv-conf takes KEY=VALUE,KEY=VALUE, not \"{}\"", text);
    const std::string key = part.substr(0, equals), value = part.substr(equals + 1);
    if (key == "is_host") options.hosts_endpoint = to_bool(value, "--rdzv-conf is_host=");
    if (key == "join_timeout" || key == "timeout")
      options.join_timeout_s = to_int(value, "--rdzv-conf " + key, 1);
    if (key == "last_call_timeout") options.last_call_s = to_int(value, "--rdzv-conf " + key, 0);
  }  // torchrun's other keys have no effect
}

}  // namespace

void understand(const Words& words, Options& options) {
  if (words.module)
    refuse("-m is not supported; to start a Python module, write: distrun ... python3 -m MODULE");
  if (words.run_path)
    refuse("--run-path is not supported; to start a Python file, write: distrun ... python3 FILE");
  if (words.backend != "c10d" && words.backend != "static") {
    refuse("--rdzv-backend {} is not supported; choose one of c10d and static", words.backend);
  }
  count_nodes(words.nnodes, options);
  options.nproc_per_node =
      count_processes(words.nproc, std::max(1, static_cast<int>(dist::usable_cpus().size())), visible_gpus());
  options.prefix = !words.no_prefix;
  options.redirects = read_streams(words.redirects, "--redirects");
  options.tee = read_streams(words.tee, "--tee");
  read_conf(words.conf, options);
  if (!words.filter.empty()) {
    for (const std::string& rank : comma_separated(words.filter)) {
      options.shown_ranks.push_back(to_int(rank, "--local-ranks-filter", 0));
    }
  }
  if (words.standalone && options.nodes > 1)
    refuse("--standalone is for one node, but --nnodes is {}; leave --standalone out", options.nodes);
  if (options.node_rank >= options.nodes || options.node_rank < -1) {
    refuse("--node-rank is {}, but nodes count from 0 to {}", options.node_rank, options.nodes - 1);
  }
  if (options.max_restarts < 0) refuse("--max-restarts is {}; it must not be negative", options.max_restarts);
  check_seconds(options.grace_s, "--grace-period");
  check_seconds(options.monitor_interval_s, "--monitor-interval");
  if (words.standalone || options.nodes == 1) return;
  const bool by_master = words.endpoint.empty();
  if (by_master && options.master_addr.empty()) {
    refuse(
        "--nnodes {} needs an address at which the nodes meet: add --rdzv-endpoint HOST:PORT, the same on "
        "all nodes",
        options.nodes);
  }
  if (!by_master) return read_endpoint(words.endpoint, 29400, options);
  options.endpoint_host = in_brackets(options.master_addr);
  options.endpoint_port = options.master_port != 0 ? options.master_port : 29500;
}

bool Streams::has(int local_rank, int stream) const {
  const auto found = by_rank.find(local_rank);
  return ((found == by_rank.end() ? everywhere : found->second) & stream) != 0;
}

int count_processes(const std::string& asked, int cpus, int gpus) {
  if (asked == "cpu") return cpus;
  if (asked == "auto") return gpus > 0 ? gpus : cpus;
  if (asked != "gpu") return to_int(asked, "--nproc-per-node", 1);
  if (gpus == 0)
    refuse(
        "--nproc-per-node gpu: this node has no GPU, or CUDA_VISIBLE_DEVICES hides it; use auto or a number");
  return gpus;
}

}  // namespace distrun
