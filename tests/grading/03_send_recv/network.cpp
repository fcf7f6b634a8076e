// Lab 03: one run on the grader's network, and what went over its links.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "judge/outcome.h"
#include "support.h"

namespace lab03 {
namespace {

constexpr judge::Milliseconds patience{5000};  // for one run, which takes about 50 ms

std::uint64_t bytes_of(const Trial& trial) {
  const auto& task = trial.tasks.front();
  return task.at(task.contains("t") ? "t" : "given").get<std::string>().size() / 2;  // hexadecimal digits
}

std::uint64_t messages_on(const judge::SimRun& run, int src, int dst) {
  const auto is_it = [&](const auto& link) { return link.src == src && link.dst == dst; };
  const auto link = std::ranges::find_if(run.report.links, is_it);
  return link == run.report.links.end() ? 0 : link->messages;
}

std::string counted(std::uint64_t messages) {
  return messages == 1 ? "one message" : fmt::format("{} messages", messages);
}

// "it sent one message to rank 5"
std::string sent_by(const judge::SimRun& run, int src) {
  std::vector<std::string> all;
  for (const auto& link : run.report.links) {
    if (link.src == src) all.push_back(fmt::format("{} to rank {}", counted(link.messages), link.dst));
  }
  return all.empty() ? "it sent nothing" : fmt::format("it sent {}", fmt::join(all, ", "));
}

bool expect_links(const Trial& trial, const judge::SimRun& run) {
  for (int src = 0; src < trial.ranks(); ++src) {
    for (int dst = 0; dst < trial.ranks(); ++dst) {
      const auto expected = trial.messages(src, dst);
      if (messages_on(run, src, dst) == expected) continue;
      ADD_FAILURE() << fmt::format("{}rank {} must send rank {} {}; {}", run.about, src, dst,
                                   expected == 0 ? "nothing" : counted(expected), sent_by(run, src));
      return false;
    }
  }
  for (const auto& link : run.report.links) {
    if (link.bytes == bytes_of(trial)) continue;
    ADD_FAILURE() << fmt::format("{}rank {} must send rank {} the tensor's {} bytes; it sent {} bytes",
                                 run.about, link.src, link.dst, bytes_of(trial), link.bytes);
    return false;
  }
  return true;
}

}  // namespace

std::uint64_t Trial::messages(int src, int dst) const {
  return static_cast<std::uint64_t>(std::ranges::count(links, std::pair{src, dst}));
}

bool Trial::has_used_its_links(const judge::SimRun& run) const {
  for (int src = 0; src < ranks(); ++src) {
    for (int dst = 0; dst < ranks(); ++dst) {
      if (messages_on(run, src, dst) != messages(src, dst)) return false;
    }
  }
  return true;
}

Values draw(Random& random, int length) {
  Values values;
  for (int i = 0; i < length; ++i) {
    const int size = random.between(1, 99);
    values.push_back(static_cast<float>(random.between(0, 1) == 0 ? size : -size));
  }
  return values;
}

std::string shown(const Values& values) {
  constexpr std::size_t enough = 6;
  const auto first = std::min(enough, values.size());
  return fmt::format("[{}{}]",
                     fmt::join(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(first), ", "),
                     values.size() > enough ? ", ..." : "");
}

Json packed(const Values& values) {
  return judge::to_hex({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

Values unpacked(const Json& hex) {
  if (!hex.is_string() || hex == "none") return {std::numeric_limits<float>::quiet_NaN()};
  const auto bytes = judge::from_hex(hex.get<std::string>());
  Values values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

std::string setting(const Trial& trial, Sends sends) {
  return fmt::format("{} on {} {}, {}", trial.call, trial.ranks(), trial.ranks() == 1 ? "rank" : "ranks",
                     sends == Sends::eager ? "eager sends" : "sends that wait for their receivers");
}

judge::SimRun run(const Trial& trial, Sends sends) {
  return judge::simulate({.tasks = trial.tasks,
                          .topology = "rounds",
                          .eager = sends == Sends::eager,
                          .limits = {.work = patience, .asleep = patience},
                          .about = setting(trial, sends)});
}

bool is_written(const judge::SimRun& run) {
  return std::ranges::none_of(run.ranks, [](const auto& rank) { return judge::is_todo(rank.reply); });
}

std::map<int, std::string> blocked(const judge::SimRun& run) {
  std::map<int, std::string> calls;
  for (const auto& finding : run.report.findings) {
    if (finding.code != dist::check::Code::deadlock) continue;
    for (const auto& party : finding.parties)
      calls[party.rank] = party.doing.substr(0, party.doing.find(' '));
  }
  return calls;
}

std::vector<Json> answers(const Trial& trial, const judge::SimRun& run) {
  auto answers = run.answers();
  for (const Json& answer : answers) {
    if (answer.is_object()) continue;
    ADD_FAILURE() << run.about << "a rank did not return a result that can be graded";
    return {};
  }
  return !answers.empty() && expect_links(trial, run) ? answers : std::vector<Json>{};
}

}  // namespace lab03
