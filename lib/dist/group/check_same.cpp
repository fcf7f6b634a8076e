#include "dist/group/check_same.h"

#include <cstdlib>
#include <sstream>

#include "dist/core/fail.h"
#include "dist/group/call.h"
#include "dist/group/control.h"
#include "dist/group/job_state.h"

namespace dist {

namespace {

struct Said {
  int rank = -1;  // global
  std::string what, where;
};

// What ranks say: the first of them, and the lowest that says something else. Rank -1: none does.
struct Answers {
  Said first, odd = {};

  void add(const Said& other) {
    if (first.rank < 0)
      first = other;
    else if (other.rank >= 0 && other.what != first.what && (odd.rank < 0 || other.rank < odd.rank))
      odd = other;
  }
  // One field per line.
  std::string encode() const {
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", first.rank, first.what, first.where, odd.rank, odd.what,
                       odd.where);
  }
};

void decode(const std::string& text, Answers& into) {
  std::istringstream fields(text);
  for (int i = 0; i < 2; ++i) {
    Said said;
    std::string rank;
    std::getline(fields, rank), std::getline(fields, said.what), std::getline(fields, said.where);
    said.rank = std::atoi(rank.c_str());
    into.add(said);
  }
}

// Along one axis after the other: the ranks of a line then know of all ranks of the axes so far.
Answers of_all(std::string_view call, const std::string& what, std::span<const ProcessGroup> lines,
               CallSite at) {
  Answers answers;
  for (const ProcessGroup& line : lines) {
    const GroupInUse group(line, call, at);
    if (group->rank < 0)
      fail(Errc::invalid_argument,
           "{} at {}: this rank is not a member of {}; only its members make this call", call, at.str(),
           group->identity.name);
    if (answers.first.rank < 0) answers.add({group->global_rank, what, at.str()});
    if (group->size() == 1) continue;
    const auto exchanged = exchange(*group, {call, at, group->identity.timeout},
                                    {std::string(call), at.str(), answers.encode(), at});
    answers = exchanged->once([](const std::vector<ControlMessage>& messages) {
      Answers together;
      for (const ControlMessage& message : messages) decode(message.data, together);
      return together;
    });
  }
  return answers;
}

// FNV-1a; lines that are equal have equal hashes.
std::string hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text.substr(0, text.find_last_not_of('\n') + 1))
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return fmt::format("{:016x}", hash);
}

}  // namespace

void check_same(std::string_view call, std::string_view description, std::span<const ProcessGroup> lines,
                CallSite at) {
  Answers answers = of_all(call, hash_of(description), lines, at);
  if (answers.odd.rank < 0) return;
  std::istringstream mine{std::string(description)};
  do {
    std::string line;
    answers = of_all(call, std::getline(mine, line) ? line : "nothing more", lines, at);
  } while (answers.odd.rank < 0);
  const auto& [first, odd] = answers;
  fail(Errc::mismatch,
       "{} at {}: rank {} has {}{} where rank {} has {}: every rank must pass the same arguments", call,
       first.where, odd.rank, odd.what, odd.where == first.where ? "" : fmt::format(" (at {})", odd.where),
       first.rank, first.what);
}

void check_same(std::string_view call, std::string_view description, const ProcessGroup& group, CallSite at) {
  check_same(call, description, std::span(&group, 1), at);
}

CallSite users_line(CallSite at) {
  const auto job = at.is_in_std() ? JobState::of(rank_context()) : nullptr;
  if (!job || !job->log) return at;
  CallSite last = job->joined_at;
  for (const FlightRecord& record : job->log->recorder.snapshot())  // the oldest first
    if (record.where.line > 0 && !record.where.is_in_std()) last = record.where;
  const std::string line = last.str();
  return CallSite::parse(line.starts_with("a line after ") ? line : "a line after " + line);
}

}  // namespace dist
