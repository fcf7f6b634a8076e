#include "dist/core/error.h"

#include <system_error>

#include "dist/core/fail.h"
#include "dist/core/limits.h"

namespace dist {

std::string_view name(Errc code) {
  switch (code) {
    case Errc::invalid_argument: return "invalid_argument";
    case Errc::not_initialized: return "not_initialized";
    case Errc::timeout: return "timeout";
    case Errc::peer_failed: return "peer_failed";
    case Errc::mismatch: return "mismatch";
    case Errc::connection: return "connection";
    case Errc::resource: return "resource";
    case Errc::unsupported: return "unsupported";
    case Errc::aborted: return "aborted";
    case Errc::internal: return "internal";
  }
  __builtin_unreachable();
}

void fail_errno(Errc code, int error_number, std::string_view what) {
  fail(code, "{}: {}{}", what, std::generic_category().message(error_number),
       code == Errc::resource ? limit_behind(error_number) : "");
}

}  // namespace dist
