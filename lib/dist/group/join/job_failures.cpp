// What a rank reports of its failed operations and its findings.
#include "dist/group/diagnosis/hang_report.h"
#include "dist/group/diagnosis/work_watch.h"
#include "dist/group/job_state.h"

namespace dist {

std::exception_ptr JobState::note_failure(std::uint64_t record, CallSite where,
                                          std::exception_ptr error) noexcept {
  try {
    calls->failed(record);
    std::rethrow_exception(error);
  } catch (const Error& thrown) {
    try {
      std::string text = thrown.what();
      if (const std::string place = where.str(); text.find(place) == std::string::npos) {
        text += "; called at " + place;
      }
      const std::string others = ask_others(record, thrown);
      const bool explains_better = check::without_finding(others) != others;
      text = (explains_better ? std::string(check::without_finding(text)) : text) + others;
      calls->explained(record, text);
      dump(*log, name(thrown.code()));
      return std::make_exception_ptr(Error(thrown.code(), text));
    } catch (const std::exception&) {
      return error;  // no memory for more words
    }
  } catch (const std::exception& thrown) {
    calls->explained(record, thrown.what());
    dump(*log, "error");
    return error;
  } catch (...) {
    return error;
  }
}

// A timeout is explained by what the other ranks are doing; so is a mismatch that the transport has noticed.
std::string JobState::ask_others(std::uint64_t record, const Error& error) {
  constexpr Timeout patience = std::chrono::seconds(1);
  const bool is_timeout = error.code() == Errc::timeout;
  const bool is_mismatch = error.code() == Errc::mismatch;
  // With detail all ranks have compared their calls, so there is nothing to add. The transport has compared
  // only two.
  const bool all_compared = is_mismatch && settings.debug == DebugLevel::detail;
  const bool is_told = (all_compared || !is_mismatch) && check::without_finding(error.what()) != error.what();
  if (!watchdog || is_told || (!is_timeout && !is_mismatch)) return {};
  const auto entry = log->recorder.find(record);
  const auto answer = watchdog->ask(entry ? entry->issued : FlightRecord::Time{}, patience);
  if (answer.snapshots.empty()) return {};
  const JobSnapshot seen{answer.snapshots, job.rank, record, answer.settled(job.rank, record)};
  std::string text = is_timeout ? "; meanwhile " + answer.others(job.rank) : "";
  auto finding = is_timeout ? explain_stall(seen) : find_different_collectives(seen);
  if (!is_timeout && !finding && settings.debug == DebugLevel::detail) finding = find_misfit(seen);
  return finding ? text + "; " + finding->line() : text;
}

std::string JobState::tell(check::Finding finding) {
  std::string line = "; " + finding.line();
  return simulation && simulation->found(std::move(finding)) ? "" : line;
}

}  // namespace dist
