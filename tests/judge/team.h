// Team: the processes of one run, one per rank. What each of them reported: outcome.h.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "judge/child.h"
#include "judge/frame.h"
#include "judge/hidden.h"
#include "judge/patience.h"

namespace judge {

struct Outcome;

class Team {
 public:
  // Starts `size` processes of `program`, each with its line, where there are some. None does anything before
  // its task comes, and no task is sent before all of them run: the time that one needs to start does not
  // count as its own, nor as that of the others, which wait for it.
  Team(const std::string& program, int size, const Limits& limits = {},
       std::vector<dist::UniqueFd> lines = {});
  ~Team();

  void hide(const Hidden& hidden);  // before the tasks go out: what their runners may ask for
  int size() const { return static_cast<int>(members_.size()); }
  void start(int rank, const Json& task);  // once for each rank
  void start_all(const std::vector<Json>& tasks);
  // Takes in what arrives for this long.
  void listen(Milliseconds duration);
  bool has_answered(int rank) const;
  bool is_overdue();  // its patience is used up; there is less of it once a run had to be stopped
  void stop();        // kills all that have not ended

  // Waits until every started rank has ended, or the team is overdue; kills what is left, ranks that were
  // never started included.
  std::vector<Outcome> finish();

 private:
  struct Member;
  using Clock = std::chrono::steady_clock;

  bool all_ready() const;
  bool all_ended() const;
  void wait_until_ready();
  void poll_once(Milliseconds patience);
  void take_channel(Member& member);
  void give(Member& member, const Request& request);
  void take_output(Member& member);
  void conclude(Member& member);

  const std::string program_;
  const Limits limits_;
  Hidden hidden_;
  int given_ = 0;  // pieces of it
  std::vector<std::unique_ptr<Member>> members_;
  Patience patience_;
};

}  // namespace judge
