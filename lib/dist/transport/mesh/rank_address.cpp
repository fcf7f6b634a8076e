#include "dist/transport/mesh/rank_address.h"

#include <fstream>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/limits.h"

namespace dist::net {
namespace {

std::string process_name() {
  // Made anew after a fork: the child is another process.
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

// Two machines' first namespaces have one number.
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

Card describe_process() {
  Card card;
  card.process = process_name();
  card.pid = getpid();
  card.pid_namespace = pid_namespace();
  card.cpus = usable_cpus();
  card.cpu_quota = cpu_quota();
  return card;
}

std::string Card::str() const {
  const nlohmann::json json{{"rank", rank},
                            {"world_size", world_size},
                            {"host", host},
                            {"process", process},
                            {"pid", pid},
                            {"pid_namespace", pid_namespace},
                            {"mailroom", mailroom},
                            {"local_address", local_address},
                            {"addresses", addresses},
                            {"cpus", cpus},
                            {"cpu_quota", cpu_quota}};
  return json.dump();
}

Card Card::parse(const std::string& text, const std::string& where) try {
  const auto json = nlohmann::json::parse(text);
  Card card;
  json.at("rank").get_to(card.rank);
  json.at("world_size").get_to(card.world_size);
  json.at("host").get_to(card.host);
  json.at("process").get_to(card.process);
  json.at("pid").get_to(card.pid);
  json.at("pid_namespace").get_to(card.pid_namespace);
  json.at("mailroom").get_to(card.mailroom);
  json.at("local_address").get_to(card.local_address);
  json.at("addresses").get_to(card.addresses);
  json.at("cpus").get_to(card.cpus);
  json.at("cpu_quota").get_to(card.cpu_quota);
  return card;
} catch (const nlohmann::json::exception& error) {
  fail(Errc::connection,
       "the store at {} holds no rank's address where one should be ({}); is it shared with another program?",
       where, error.what());
}

}  // namespace dist::net
