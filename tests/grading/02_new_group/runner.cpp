// The process of one rank in the grading of lab 02: a rank of the grader's simulation that calls the graded
// functions as the task says. Numbers are returned as text, because JSON has no infinity.
#include "judge/runner.h"

#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dist/core/todo.h"
#include "dist/dist.h"
#include "dist/group/group_state.h"

#include "new_group.h"

namespace {

using judge::Json;

std::string text(double number) { return fmt::format("{}", number); }

Json seen(const dist::ProcessGroup& group) {
  if (!group) return nullptr;
  return {{"ranks", group.ranks()}, {"rank", group.rank()}};
}

// How many groups this rank has made.
std::uint64_t groups_made() { return dist::default_group().state()->control_calls; }

Json halves(const Json&) {
  const auto before = groups_made();
  const auto made = lab::make_halves();
  return {{"lower", seen(made.lower)}, {"upper", seen(made.upper)}, {"groups", groups_made() - before}};
}

std::vector<int> ranks_where(const std::function<bool(int rank)>& is_in) {
  std::vector<int> ranks;
  for (int rank = 0; rank < dist::get_world_size(); ++rank) {
    if (is_in(rank)) ranks.push_back(rank);
  }
  return ranks;
}

// Correct halves, so that the later parts can be graded without the first.
lab::Halves right_halves() {
  const int lower = (dist::get_world_size() + 1) / 2;
  lab::Halves right;
  right.lower = dist::new_group(ranks_where([&](int rank) { return rank < lower; }));
  right.upper = dist::new_group(ranks_where([&](int rank) { return rank >= lower; }));
  return right;
}

Json half_sums(const Json& task) {
  const auto right = right_halves();
  Json sums = Json::array();
  for (const double mine : task.at("numbers")) sums.push_back(text(lab::half_sum(right, mine)));
  return sums;
}

Json both_sums(const Json& task) {
  const auto right = right_halves();
  Json sums = Json::array();
  for (const double mine : task.at("numbers")) {
    const auto both = lab::both_sums(right, mine);
    sums.push_back({text(both[0]), text(both[1])});
  }
  return sums;
}

// A rank's groups have ascending context numbers, in the order in which they were made.
bool is_made_before(const dist::ProcessGroup& one, const dist::ProcessGroup& other) {
  return one && other && one.state()->identity.context < other.state()->identity.context;
}

Json mesh(const Json& task) {
  const auto before = groups_made();
  const auto made = lab::make_mesh(task.at("rows"), task.at("columns"));
  return {{"row", seen(made.row)},
          {"column", seen(made.column)},
          {"my_row", made.my_row},
          {"my_column", made.my_column},
          {"columns_first", is_made_before(made.column, made.row)},
          {"row_made", made.row ? made.row.state()->identity.context : 0},
          {"groups", groups_made() - before}};
}

// The code of the error, if any, and how many groups were made before it.
Json refusal(const Json& task) {
  const auto before = groups_made();
  Json code = nullptr;
  try {
    lab::make_mesh(task.at("rows"), task.at("columns"));
  } catch (const dist::Todo&) {
    throw;
  } catch (const dist::Error& error) {
    code = dist::name(error.code());
  }
  return {{"code", code}, {"groups", groups_made() - before}};
}

lab::Mesh right_mesh(const Json& task) {
  const int rows = task.at("rows"), columns = task.at("columns"), me = dist::get_rank();
  lab::Mesh right;
  right.my_row = me / columns;
  right.my_column = me % columns;
  for (int row = 0; row < rows; ++row) {
    const auto group = dist::new_group(ranks_where([&](int rank) { return rank / columns == row; }));
    if (row == right.my_row) right.row = group;
  }
  for (int column = 0; column < columns; ++column) {
    const auto group = dist::new_group(ranks_where([&](int rank) { return rank % columns == column; }));
    if (column == right.my_column) right.column = group;
  }
  return right;
}

Json broadcasts(const Json& task) {
  const auto right = right_mesh(task);
  Json received = Json::array();
  for (const auto& round : task.at("rounds")) {
    const std::vector<double> numbers = round.at("numbers");
    auto t = dist::tensor(std::span<const double>(numbers));
    const auto given = t;
    lab::broadcast_in_row(t, right, round.at("column"));
    received.push_back({{"numbers", given.to_vector<double>()}, {"same_memory", t.raw() == given.raw()}});
  }
  return received;
}

Json slowest(const Json& task) {
  const auto right = right_mesh(task);
  Json ranks = Json::array();
  for (const double seconds : task.at("numbers")) ranks.push_back(lab::slowest_in_column(right, seconds));
  return ranks;
}

Json handle(const Json& task) {
  const std::string call = task.at("call");
  dist::init_process_group();
  if (call == "make_halves") return halves(task);
  if (call == "half_sum") return half_sums(task);
  if (call == "both_sums") return both_sums(task);
  if (call == "make_mesh") return mesh(task);
  if (call == "refusal") return refusal(task);
  if (call == "broadcast_in_row") return broadcasts(task);
  if (call == "slowest_in_column") return slowest(task);
  throw std::logic_error("no such call: " + call);
}

}  // namespace

int main() {
  return judge::serve([](const Json& task) { return judge::attempt([&] { return handle(task); }); });
}
