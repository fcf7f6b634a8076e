#include "dist/data/gunzip.h"

#include <algorithm>
#include <array>
#include <limits>

#include <zlib.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"

namespace dist::data {
namespace {

class Inflater {
 public:
  Inflater() {
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, gzip_only) != Z_OK) fail(Errc::resource, "zlib has no memory");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream* operator->() { return &stream_; }
  int run() { return inflate(&stream_, Z_NO_FLUSH); }

 private:
  z_stream stream_{};
};

}  // namespace

std::vector<std::byte> gunzip(std::span<const std::byte> bytes, const std::string& what, std::size_t limit) {
  if (bytes.size() > std::numeric_limits<uInt>::max())
    fail(Errc::invalid_argument, "{} is larger than 4 GiB: uncompress it first, with gunzip", what);
  Inflater inflater;
  inflater->next_in = reinterpret_cast<z_const Bytef*>(const_cast<std::byte*>(bytes.data()));
  inflater->avail_in = static_cast<uInt>(bytes.size());
  std::vector<std::byte> all;
  std::vector<std::byte> piece(256 * 1024);
  for (int said = Z_OK; said != Z_STREAM_END;) {
    inflater->next_out = reinterpret_cast<Bytef*>(piece.data());
    inflater->avail_out = static_cast<uInt>(piece.size());
    said = inflater.run();
    const std::size_t made = piece.size() - inflater->avail_out;
    if (said == Z_BUF_ERROR || (said == Z_OK && made == 0))
      fail(Errc::invalid_argument, "{} ends in the middle of its compressed data ({}): fetch it again", what,
           counted(bytes.size(), "byte"));
    if (said != Z_OK && said != Z_STREAM_END)
      fail(Errc::invalid_argument, "{} is damaged ({}): fetch it again", what,
           inflater->msg ? inflater->msg : "zlib cannot read it");
    if (made > limit - all.size())
      fail(Errc::invalid_argument, "{} holds more than {} bytes when uncompressed: is it the right file?",
           what, limit);
    all.insert(all.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(made));
  }
  return all;
}

}  // namespace dist::data
