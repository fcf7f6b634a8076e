#include "dist/transport/mesh/rank_address.h"

#include <fstream>
#include <random>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/json.h"
#include "dist/core/json_error.h"
#include "dist/core/limits.h"

namespace dist::net {
namespace {

std::string process_name() {
  // Made anew after a fork, because the child is another process.
  static std::uint64_t nonce = 0;
  static pid_t owner = 0;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (owner != getpid()) {
    nonce = random_number();
    owner = getpid();
  }
  return fmt::format("{:016x}/{}", nonce, owner);
}

// The boot id is part of it, because the first namespaces of two machines have the same number.
std::string pid_namespace() {
  std::string boot = "?";
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat info {};
  ::stat("/proc/self/ns/pid", &info);
  return fmt::format("{}/{}", boot, info.st_ino);
}

}  // namespace

std::uint64_t random_number() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

RankAddress describe_process() {
  RankAddress address;
  address.process = process_name();
  address.pid = getpid();
  address.pid_namespace = pid_namespace();
  address.cpus = usable_cpus();
  address.cpu_quota = cpu_quota();
  return address;
}

std::string RankAddress::str() const {
  const Json json{{"rank", rank},
                  {"world_size", world_size},
                  {"host", host},
                  {"process", process},
                  {"pid", pid},
                  {"pid_namespace", pid_namespace},
                  {"shared_segment", shared_segment},
                  {"local_address", local_address},
                  {"addresses", addresses},
                  {"cpus", cpus},
                  {"cpu_quota", cpu_quota}};
  return json_text(json);
}

RankAddress RankAddress::parse(const std::string& text, const std::string& where) try {
  const auto json = parse_json(text);
  RankAddress address;
  json.at("rank").get_to(address.rank);
  json.at("world_size").get_to(address.world_size);
  json.at("host").get_to(address.host);
  json.at("process").get_to(address.process);
  json.at("pid").get_to(address.pid);
  json.at("pid_namespace").get_to(address.pid_namespace);
  json.at("shared_segment").get_to(address.shared_segment);
  json.at("local_address").get_to(address.local_address);
  json.at("addresses").get_to(address.addresses);
  json.at("cpus").get_to(address.cpus);
  json.at("cpu_quota").get_to(address.cpu_quota);
  return address;
} catch (const Json::exception& error) {
  fail(Errc::connection,
       "the store at {} holds no rank's address where one should be ({}); is it shared with another program?",
       where, json_error(error.what()));
}

}  // namespace dist::net
