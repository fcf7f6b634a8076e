#include "dist/group/rank_end.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <new>

#include <fmt/format.h>
#include <unistd.h>

#include "dist/core/rank_label.h"

namespace dist {
namespace {

std::mutex inside_mutex;  // guards the two below
int ranks_inside = 0;
pid_t process_of_ranks = 0;  // the count of another process, which this one was forked from, means nothing

// A child that a rank has forked may end as it likes.
void refuse_exit(int status, void*) {
  {
    const std::lock_guard lock(inside_mutex);
    if (ranks_inside == 0 || process_of_ranks != getpid()) return;
  }
  std::cout.flush();
  std::fflush(nullptr);
  std::fprintf(stderr,
               "rank %d called exit(%d) before its function had returned; all ranks of this process end with "
               "it, so return from the function instead\n",
               current_rank_label(), status);
  _exit(exit_code_of_shared_exit);
}

}  // namespace

SharedProcess::SharedProcess(bool is_shared) : is_shared_(is_shared) {
  if (!is_shared) return;
  static std::once_flag registered;
  std::call_once(registered, [] { on_exit(&refuse_exit, nullptr); });
  const std::lock_guard lock(inside_mutex);
  if (process_of_ranks != getpid()) ranks_inside = 0;
  process_of_ranks = getpid();
  ++ranks_inside;
}

SharedProcess::~SharedProcess() {
  if (!is_shared_) return;
  const std::lock_guard lock(inside_mutex);
  --ranks_inside;
}

RankResult describe_end(std::exception_ptr error) {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const Error& e) {
    return {true, e.code(), e.what()};
  } catch (const std::bad_alloc&) {
    return {true, Errc::resource,
            "the machine, or a limit (ulimit -v), has no memory left for it (std::bad_alloc); ask for less"};
  } catch (const std::exception& e) {
    const std::string text = e.what();
    return {true, Errc::internal, text.empty() ? "threw a std::exception without a text" : text};
  } catch (...) {
    return {true, Errc::internal, "threw something that is not a std::exception"};
  }
}

void end_forked_child(int rank, const RankResult& result) {
  if (result.threw) {
    const std::string text = fmt::format("process {}, forked by rank {}: {}\n", getpid(), rank, result.text);
    std::fputs(text.c_str(), stderr);
  }
  std::cout.flush();
  std::fflush(nullptr);
  _exit(result.threw ? 1 : 0);
}

}  // namespace dist
