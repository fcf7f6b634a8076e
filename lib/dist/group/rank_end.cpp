#include "dist/group/rank_end.h"

#include <cstdio>
#include <iostream>
#include <new>

#include <fmt/format.h>
#include <unistd.h>

namespace dist {

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
