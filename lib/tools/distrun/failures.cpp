#include "failures.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "dist/core/json.h"

namespace distrun {
namespace {

constexpr int most = 32;

std::string key_of(const std::string& prefix, std::int64_t number) {
  return fmt::format("{}/{}", prefix, number);
}

// The text has one line for the numbers and one for the failure; the rest are the last words.
std::string to_text(const NodeFailure& failure) {
  return fmt::format("{} {}\n{}\n{}", failure.node, failure.failure.rank, failure.failure.what,
                     failure.failure.last_words);
}

NodeFailure parse(const std::string& text, std::int64_t number) {
  NodeFailure result;
  std::istringstream in(text);
  in >> result.node >> result.failure.rank;
  in.ignore();  // the end of the line
  std::getline(in, result.failure.what);
  result.failure.last_words.assign(std::istreambuf_iterator<char>(in), {});
  result.failure.when = std::chrono::steady_clock::time_point(std::chrono::nanoseconds(number));
  return result;
}

std::vector<NodeFailure> read_all(dist::Store& store, const std::string& prefix) {
  std::vector<NodeFailure> all;
  const std::int64_t count = std::min<std::int64_t>(most, store.add(prefix, 0));
  const auto deadline = dist::Deadline::after(std::chrono::seconds(1));  // counted, so it is there at once
  for (std::int64_t number = 1; number <= count; ++number)
    all.push_back(parse(store.get_text(key_of(prefix, number), deadline), number));
  return all;
}

bool lacks_the_cause(const std::vector<NodeFailure>& all) {
  if (all.empty()) return false;
  return std::ranges::any_of(dist::ranks_named(all[cause_of(all)].failure.last_words), [&](int rank) {
    return std::ranges::none_of(all, [&](const NodeFailure& f) { return f.failure.rank == rank; });
  });
}

}  // namespace

void publish(dist::Store& store, const std::string& prefix, const NodeFailure& failure) {
  const std::int64_t number = store.add(prefix, 1);
  if (number <= most) store.set(key_of(prefix, number), to_text(failure));
}

std::vector<NodeFailure> published(dist::Store& store, const std::string& prefix) {
  const auto patience = dist::Deadline::after(std::chrono::seconds(1));
  for (;;) {
    auto all = read_all(store, prefix);
    if (!lacks_the_cause(all) || patience.passed()) return all;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

std::size_t cause_of(const std::vector<NodeFailure>& failures) {
  std::vector<dist::RankFailure> all;
  for (const NodeFailure& each : failures) all.push_back(each.failure);
  return dist::root_cause(all);
}

std::string error_in(const std::string& file) {
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const dist::Json json = dist::try_parse_json(text);
  if (!json.is_object() || !json.contains("message")) return "";
  const dist::Json& message = json["message"];
  if (message.is_string()) return message.get<std::string>();
  return message.is_object() && message.contains("message") && message["message"].is_string()
             ? message["message"].get<std::string>()
             : "";
}

}  // namespace distrun
