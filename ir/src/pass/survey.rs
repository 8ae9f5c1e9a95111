//! Surveys: what a pass may know of the bodies beside its own.
//!
//! Bodies at one level are worked on in parallel, so a pass sees none but its own. What it wants to
//! know of the others is a survey of the body around all of them, taken once before any of them is
//! entered, and frozen. So a survey tells how the bodies *were*: it may be used only for what no
//! pass changes, such as what they compute.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::body::Body;

/// Something to know of a body that passes are run inside of.
#[derive(Debug)]
pub struct Survey {
    /// Its name.
    pub name: &'static str,
    /// Takes it.
    pub take: fn(&Body) -> Found,
}

/// The result of a survey, of a type that those who ask for it know.
pub type Found = Arc<dyn Any + Send + Sync>;

/// The surveys that were taken of one body.
#[derive(Clone, Default)]
pub struct Surveys(Vec<(&'static str, Found)>);

impl Surveys {
    /// Takes these surveys of a body, each once.
    pub fn of(body: &Body, wanted: impl IntoIterator<Item = &'static Survey>) -> Surveys {
        let mut taken = Surveys::default();
        for survey in wanted {
            if !taken.0.iter().any(|(name, _)| *name == survey.name) {
                taken.0.push((survey.name, (survey.take)(body)));
            }
        }
        taken
    }

    /// Returns the result of a survey. `None` if it was not taken, as when a pass runs on the
    /// outermost body.
    pub fn get<T: Any + Send + Sync>(&self, survey: &Survey) -> Option<Arc<T>> {
        let (_, found) = self.0.iter().find(|(name, _)| *name == survey.name)?;
        found.clone().downcast().ok()
    }
}

impl fmt::Debug for Surveys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}
