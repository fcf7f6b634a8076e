// Lab 00: runs, and what a finding or an error shows.
#include "support.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lab00 {
namespace {

using dist::check::Finding;

// Some ranks wait in a collective that the others do not call.
void diagnose_finding(const Finding& finding) {
  const auto is_in_all_reduce = [](const auto& party) {
    return party.doing.find("all_reduce") != std::string::npos;
  };
  if (std::ranges::none_of(finding.parties, is_in_all_reduce)) return;
  judge::misconception("not_called_by_all",
                       "all_reduce is a collective: it returns only when every rank of the group has called "
                       "it, and here some ranks never do; fix: call it on every rank, outside of any `if` "
                       "about the rank");
}

void diagnose_error(const std::string& error) {
  const auto says = [&](std::string_view words) { return error.find(words) != std::string::npos; };
  if (says("call init_process_group")) {
    judge::misconception("asks_before_joining",
                         "a process has no number until it has joined the group; fix: call "
                         "dist::init_process_group() before anything else");
  } else if (says("init_process_group") && says("already")) {
    judge::misconception("joins_again",
                         "a program joins once; the ranks have joined before Part 2 begins; fix: call "
                         "init_process_group() in introduce() only");
  }
}

}  // namespace

Numbers one_to(int ranks) {
  Numbers numbers;
  for (int rank = 0; rank < ranks; ++rank) numbers.push_back(rank + 1);
  return numbers;
}

Numbers small_numbers(judge::Random& random, int ranks) {
  Numbers numbers;
  for (int rank = 0; rank < ranks; ++rank)
    numbers.push_back(random.between(1, 99) + 0.25 * random.between(1, 3));
  return numbers;
}

std::vector<Numbers> and_others_between(judge::Random& random, const Numbers& numbers) {
  Numbers others = small_numbers(random, static_cast<int>(numbers.size()));
  others.front() += 0.125;  // the other numbers are quarters
  return {numbers, others, numbers};
}

judge::SimRun run(const std::string& call, const Rows& rows) {
  const std::size_t ranks = rows.front().size();
  judge::SimPlan plan;
  plan.trace = true;
  plan.about = fmt::format("{} on {}", call, ranks == 1 ? "1 rank" : fmt::format("{} ranks", ranks));
  if (call != "introduce") {
    plan.about += ranks == 1 ? " that contributes " : " that contribute ";
    for (std::size_t row = 0; row < rows.size(); ++row)
      plan.about += fmt::format("{}{}", row == 0 ? "" : "; then ", fmt::join(rows[row], ", "));
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    Json mine = Json::array();
    for (const Numbers& numbers : rows) mine.push_back(numbers[rank]);
    plan.tasks.push_back({{"call", call}, {"mine", mine}});
  }
  return judge::simulate(plan);
}

std::vector<Json> answers(const judge::SimRun& done) {
  for (const auto& finding : done.report.findings) diagnose_finding(finding);
  for (const auto& failure : done.report.failures) diagnose_error(failure.what);
  return done.answers({"all_reduce", "all_gather", "broadcast", "reduce", "gather", "scatter",
                       "reduce_scatter", "all_to_all", "barrier"});
}

int all_reduces(const judge::SimRun& done, int rank) {
  const auto& events = done.report.trace.events;
  return static_cast<int>(std::ranges::count_if(events, [&](const auto& event) {
    return event.kind == dist::trace::Kind::call && event.rank == rank && event.name == "all_reduce";
  }));
}

}  // namespace lab00
