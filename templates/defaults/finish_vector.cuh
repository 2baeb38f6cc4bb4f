#pragma once
// D is the only output.
