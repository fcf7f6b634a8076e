#include "distlab/bench/table.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "dist/core/counted.h"

#include "distlab/bench/statistics.h"
#include "distlab/build_info.h"
#include "distlab/terminal.h"

namespace distlab::bench {
namespace {

// Returns "4 KiB", or four digits if equal parts leave no round number.
std::string readable_size(std::int64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB"};
  constexpr std::int64_t most_digits = 9999;
  if (bytes <= most_digits && bytes % 1024 != 0) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; unit < 3 && value > 1023.9; ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, units[unit]);
}

// Returns four significant digits, in at most seven characters for times below ten seconds.
std::string number(double value) {
  if (value <= 0) return "-";
  if (value < 10) return fmt::format("{:.3f}", value);
  if (value < 100) return fmt::format("{:.2f}", value);
  if (value < 1000) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

std::string short_number(double value) {
  return value <= 0 ? "-" : value < 100 ? fmt::format("{:.2f}", value) : fmt::format("{:.0f}", value);
}

std::string peer_column(const Run& run) { return run.peer == "mpi" ? "MPI us" : run.peer + " us"; }

// The columns of one form. A single form leaves room for the peer's time.
std::string form_titles(const Run& run, bool alone) {
  std::string text = fmt::format("{:>8}{:>6}{:>6}", "time us", "algbw", "busbw");
  if (!run.peer.empty() && alone) text += fmt::format("{:>9}", peer_column(run));
  if (!run.peer.empty()) text += fmt::format("{:>6}", "ratio");
  return text + fmt::format("{:>6}", "limit");
}

std::string form_figures(const Run& run, const Row& row, bool alone) {
  constexpr double giga = 1e9, micro = 1e6;
  std::string text = fmt::format("{:>8}{:>6}{:>6}", number(row.ours.median * micro),
                                 short_number(algbw(row) / giga), short_number(busbw(row, run) / giga));
  if (row.peer && alone) text += fmt::format("{:>9}", number(row.peer->median * micro));
  if (!run.peer.empty()) text += fmt::format("{:>6}", short_number(ratio(row)));
  const double percent = percent_of_limit(row);
  return text + (percent <= 0  ? fmt::format("{:>6}", "-")
                 : percent < 1 ? fmt::format("{:>6}", "<1%")
                               : fmt::format("{:>5.0f}%", percent));
}

// Whether the table is narrower than its usual form: a row for the size, and below it one for each form.
bool is_stacked(const Run& run) {
  constexpr std::size_t left = 27, count = 10, wrong = 6;
  const auto all_forms = forms(run.plan.collective).size();
  const bool alone = all_forms == 1;
  const auto columns = left + (alone ? count : 0) + all_forms * form_titles(run, alone).size() + wrong;
  return columns > static_cast<std::size_t>(columns_to_fit());
}

std::string stacked_titles(const Run& run) {
  const bool alone = forms(run.plan.collective).size() == 1;
  return fmt::format("{:>8} algorithm\n{:12}{}{:>6}\n", "size", "", form_titles(run, alone), "wrong");
}

std::string stacked_lines(const Run& run, const std::vector<Row>& rows) {
  std::string text = fmt::format("{:>8} {}\n", readable_size(rows[0].bytes), rows[0].algorithm);
  for (const Row& row : rows)
    text +=
        fmt::format("{:12}{}{:>6}\n", name(row.form), form_figures(run, row, rows.size() == 1), row.wrong);
  return text;
}

std::string what_is_reduced(const Run& run) {
  if (!reduces(run.plan.collective)) return has_data(run.plan.collective) ? ' ' + run.options.dtype : "";
  return fmt::format(" {} {}", run.options.dtype, run.options.op);
}

std::string peculiarities(const Run& run) {
  std::string text;
  for (const char* setting : {"DIST_TRANSPORT", "DIST_ALGO", "DIST_SEND", "DIST_DEBUG", "DIST_TRACE"})
    if (const char* value = std::getenv(setting)) text += fmt::format(", {}={}", setting, value);
  if (run.options.foreign) text += ", foreign memory";
  if (run.options.hot) text += ", hot buffers";
  if (has_root(run.plan.collective)) text += fmt::format(", root {}", run.plan.root);
  return text;
}

}  // namespace

std::string title(const Run& run) {
  const auto all_forms = forms(run.plan.collective);
  const bool alone = all_forms.size() == 1;
  std::string text =
      fmt::format("{}{} on {}, {}: backend {}{}; build {}\n", name(run.plan.collective), what_is_reduced(run),
                  dist::counted(run.plan.ranks, "rank"), dist::counted(run.options.cores, "core"),
                  run.backend, peculiarities(run), build_info().type);
  text += warning_of_build();
  if (!run.peer.empty())
    text += fmt::format(
        "Compared with {} in the same processes, alternately: a batch of ours, a batch of theirs.\n",
        run.peer_title);
  text += fmt::format("Memory: {:.1f} GB/s read and written, with {} copying at the same time.\n",
                      run.bandwidth / 1e9,
                      run.plan.on_device ? "one rank per GPU" : dist::counted(run.plan.ranks, "rank"));
  if (run.meeting > 0)
    text += fmt::format("Meeting: {} us until every rank has seen a cache line of every other rank.\n",
                        number(run.meeting * 1e6));
  text += '\n';
  if (is_stacked(run)) return text + stacked_titles(run);
  if (!alone) {
    text += fmt::format("{:27}", "");
    for (const Form form : all_forms)
      text += fmt::format("{:^{}}", name(form), form_titles(run, alone).size());
    text += '\n';
  }
  text += fmt::format("{:>8} {:<18}", "size", "algorithm");
  if (alone) text += fmt::format("{:>10}", "count");
  for (std::size_t i = 0; i < all_forms.size(); ++i) text += form_titles(run, alone);
  return text + fmt::format("{:>6}\n", "wrong");
}

std::string line(const Run& run, const std::vector<Row>& rows) {
  if (is_stacked(run)) return stacked_lines(run, rows);
  const bool alone = rows.size() == 1;
  std::string text = fmt::format("{:>8} {:<18}", readable_size(rows[0].bytes), rows[0].algorithm);
  if (alone) text += fmt::format("{:>10}", rows[0].count);
  std::int64_t wrong = 0;
  for (const Row& row : rows) {
    text += form_figures(run, row, alone);
    wrong += row.wrong;
  }
  return text + fmt::format("{:>6}\n", wrong);
}

std::string explanation(const Run& run, const std::vector<Row>& rows) {
  std::string text = fmt::format(
      "\ntime: median of {} on the slowest rank. GB/s: algbw = size/time, busbw = {:.3g} algbw.\n",
      dist::counted(run.options.repeats, "batch", "batches"),
      bus_factor(run.plan.collective, run.plan.ranks));
  text += fmt::format(
      "limit: the time that memory alone{} would take / our time; caches can be faster than memory.\n",
      run.meeting > 0 && meets(run.plan.collective) ? ", or a meeting alone," : "");
  if (run.peer.empty() || rows.empty()) return text;
  std::vector<double> ratios;
  for (const Row& row : rows) ratios.push_back(ratio(row));
  const auto least = static_cast<std::size_t>(std::ranges::min_element(ratios) - ratios.begin());
  text += fmt::format("ratio: time of {} / our time; above 1, distlab is faster.\n", run.peer_title);
  std::string where = readable_size(rows[least].bytes);
  if (forms(run.plan.collective).size() > 1) where += fmt::format(", {}", name(rows[least].form));
  if (run.plan.algorithms.size() > 1) where += ", " + rows[least].algorithm;
  text += fmt::format("ratio to {}: geometric mean {:.2f}, least {:.2f} ({})\n", run.peer_title,
                      geometric_mean(ratios), ratios[least], where);
  return text;
}

}  // namespace distlab::bench
