// JSON for any program. (JSON for Gradescope is in results/.)
#pragma once

#include <string>
#include <vector>

#include "distlab/doctor/doctor.h"
#include "distlab/grading.h"

namespace distlab {

// None of these ends with a newline.
std::string as_json(const GradeRecord& record);                  // `grade --json`
std::string as_json(const std::vector<GradeRecord>& records);    // `grade all --json`
std::string as_json(const std::vector<Section>& of_the_doctor);  // `doctor --json`

}  // namespace distlab
