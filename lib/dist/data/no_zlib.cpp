#include "dist/core/fail.h"
#include "dist/data/gunzip.h"

namespace dist::data {

// DIST_ZLIB_WHY: what CMake found out (lib/cmake/DistZlib.cmake).
std::vector<std::byte> gunzip(std::span<const std::byte>, const std::string& what, std::size_t) {
  fail(Errc::unsupported, "{} is compressed, and this build has no zlib: {}; or uncompress it with gunzip",
       what, DIST_ZLIB_WHY);
}

}  // namespace dist::data
