//! External resources: what tools keep beside a program, in the section `external_resources` of its
//! file.
//!
//! To the program they mean nothing, so no pass looks at them; they are printed as they were read.
//! A reproducer, for one, carries the pipeline to run in the group `mlir_reproducer`. Groups and
//! keys keep their order. Cost: constant for each entry.

use hashbrown::HashMap;

/// A value of an external resource.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ResourceValue {
    /// `"text"`, a blob in hexadecimal digits too.
    String(Box<[u8]>),
    /// `true` or `false`.
    Bool(bool),
}

/// Key and value, in order.
pub type ResourceGroup = Vec<(String, ResourceValue)>;

/// External resources by group and key.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ExternalResources {
    groups: Vec<(String, ResourceGroup)>,
    places: HashMap<String, usize>,
}

impl ExternalResources {
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// All groups, in order.
    pub fn groups(&self) -> impl Iterator<Item = (&str, &[(String, ResourceValue)])> {
        self.groups.iter().map(|(name, entries)| (name.as_str(), entries.as_slice()))
    }

    /// Adds an entry at the end of a group.
    pub fn push(&mut self, group: &str, key: &str, value: ResourceValue) {
        let place = *self.places.entry_ref(group).or_insert(self.groups.len());
        if place == self.groups.len() {
            self.groups.push((group.into(), Vec::new()));
        }
        self.groups[place].1.push((key.into(), value));
    }

    /// Takes a group out.
    pub fn remove(&mut self, group: &str) -> Option<ResourceGroup> {
        let place = self.places.remove(group)?;
        let (_, entries) = self.groups.remove(place);
        for (later, (name, _)) in self.groups.iter().enumerate().skip(place) {
            self.places.insert(name.clone(), later);
        }
        Some(entries)
    }
}
