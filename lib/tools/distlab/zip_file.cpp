#include "distlab/zip_file.h"

#include "dist/core/fail.h"

#include "distlab/process.h"

namespace distlab {

void write_zip(const std::filesystem::path& zip, const std::filesystem::path& folder,
               const std::vector<std::string>& names) {
  std::vector<std::string> argv{
      "cmake",        "-E", "chdir", folder, "cmake", "-E", "tar", "cf", std::filesystem::absolute(zip),
      "--format=zip", "--"};
  argv.insert(argv.end(), names.begin(), names.end());
  const auto made = run_captured(argv);
  if (made.exit_code == 127)
    dist::fail(dist::Errc::unsupported, "{} is not made: cmake is not in PATH", zip.string());
  if (made.exit_code != 0)
    dist::fail(dist::Errc::resource, "{} cannot be written: is its disk full?", zip.string());
}

}  // namespace distlab
