#include "distlab/zip_file.h"

#include "dist/core/fail.h"
#include "dist/core/whole_file.h"

#include "distlab/file_text.h"
#include "distlab/process.h"
#include "distlab/temporary_folder.h"

namespace distlab {

void write_zip(const std::filesystem::path& zip, const std::filesystem::path& folder,
               const std::vector<std::string>& names) {
  const TemporaryFolder scratch("zip");
  const auto packed = scratch.path() / "packed.zip";
  std::vector<std::string> argv{"cmake", "-E", "chdir", folder,         "cmake", "-E",
                                "tar",   "cf", packed,  "--format=zip", "--"};
  argv.insert(argv.end(), names.begin(), names.end());
  const auto made = run_captured(argv);
  if (made.exit_code == 127)
    dist::fail(dist::Errc::unsupported, "{} cannot be made, because cmake is not in PATH: install CMake",
               zip.string());
  if (made.exit_code != 0)
    dist::fail(dist::Errc::resource, "{} cannot be packed; check that the disk of {} is not full",
               zip.string(), scratch.path().parent_path().string());
  dist::write_whole_file(zip, text_of_file(packed));
}

}  // namespace distlab
